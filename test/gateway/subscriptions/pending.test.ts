import { Transaction } from "ethers/transaction";
import t from "tap";
import { developmentWallet, signed } from "../../fakes/validators/rpc.ts";
import { startValidators } from "../../fakes/validators/start-validators.ts";
import { startGateway } from "../../helpers/gateway.ts";
import { startRedis } from "../../helpers/redis.ts";
import { openWebSocket } from "../../helpers/web-socket-client.ts";

t.test("transactions that one gateway forwards are notified by all, each once", async (t) => {
  const [redis, validators] = await Promise.all([startRedis(t), startValidators(t, { count: 2 })]);
  await validators.mine(1);
  const options = { redisUrl: redis.url, upstreams: validators.urls };
  const [sending, other] = await Promise.all([startGateway(t, options), startGateway(t, options)]);
  const clients = await Promise.all([sending, other].map(({ url }) => openWebSocket(t, url)));
  const ids = await Promise.all(
    clients.map(async (client) => ({
      hashes: String(await client.call("eth_subscribe", ["newPendingTransactions"])),
      whole: String(await client.call("eth_subscribe", ["newPendingTransactions", true])),
    })),
  );
  const filter = await clients[1]?.call("eth_newPendingTransactionFilter");

  const wallet = developmentWallet(1);
  const raws = await Promise.all([0, 1, 2].map((nonce) => signed(wallet, nonce)));
  const hashes = raws.map((raw) => Transaction.from(raw).hash);
  const send = async (raw: string | undefined) =>
    (await sending.post({ jsonrpc: "2.0", id: 1, method: "eth_sendRawTransaction", params: [raw] })).json;
  for (const [index, raw] of raws.entries()) {
    t.match(await send(raw), { result: hashes[index] });
    t.match(await send(raw), { result: hashes[index] }, "sent again");
  }
  t.match(await send("0x00"), { error: {} }, "one that no validator takes");

  for (const [index, client] of clients.entries()) {
    t.same(await client.waitFor(ids[index]?.hashes ?? "", 3), hashes);
    t.match(
      await client.waitFor(ids[index]?.whole ?? "", 3),
      hashes.map((hash, nonce) => ({ hash, nonce: `0x${nonce}`, blockHash: null })),
    );
  }
  t.same(await clients[0]?.call("eth_getFilterChanges", [filter]), hashes);
  // Nothing comes behind what was awaited.
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (const client of clients) t.equal(client.told.length, 6);
  await Promise.all(clients.map((client) => client.close()));
});
