import { once } from "node:events";
import { pino } from "pino";
import t, { type Test } from "tap";
import { createPublicClient, createTestClient, webSocket } from "viem";
import { WebSocket } from "ws";
import { startInternalRpc } from "../../../gateway/wallet-proxy/start-internal-rpc.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { ask } from "./rig.ts";

const account = "0x00000000000000000000000000000000000000aa";

async function startRpc(t: Test) {
  const anvil = await startAnvil(t);
  const rpc = await startInternalRpc({ port: 0, nodeUrl: anvil.url }, { logger: pino({ level: "silent" }) });
  t.teardown(() => rpc.stop());
  const call = async (method: string, ...params: unknown[]) => {
    const { body } = await ask(rpc.port, {
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return JSON.parse(body);
  };
  return { anvil, rpc, call };
}

t.test("the node's own methods work, without a key: Foundry's, Hardhat's, time travel", async (t) => {
  const { call } = await startRpc(t);
  t.match(await call("anvil_nodeInfo"), { result: { environment: { chainId: 8845 } } });
  t.match(await call("hardhat_setBalance", account, "0x64"), { result: null });
  t.match(await call("eth_getBalance", account, "latest"), { result: "0x64" });
  const { result: snapshot } = await call("evm_snapshot");
  t.match(await call("evm_mine"), { result: "0x0" });
  t.match(await call("eth_blockNumber"), { result: "0x1" });
  t.match(await call("evm_revert", snapshot), { result: true });
  t.match(await call("eth_blockNumber"), { result: "0x0" });
});

t.test("over WebSocket too: a client library subscribes and mines", async (t) => {
  const { rpc } = await startRpc(t);
  const transport = webSocket(rpc.url.replace("http:", "ws:"), { reconnect: false });
  const client = createPublicClient({ transport });
  const blocks: bigint[] = [];
  const seen = new Promise<void>((resolve, reject) => {
    const stop = client.watchBlockNumber({
      onBlockNumber(number) {
        blocks.push(number);
        if (number === 2n) resolve();
      },
      onError: reject,
    });
    t.teardown(stop);
  });
  await client.getChainId();
  const miner = createTestClient({ mode: "anvil", transport });
  await miner.mine({ blocks: 1 });
  await miner.mine({ blocks: 1 });
  await seen;
  t.same(blocks.slice(-2), [1n, 2n]);
  (await client.transport.getRpcClient()).close();
  (await miner.transport.getRpcClient()).close();
});

t.test("a web page elsewhere does not reach it, one on loopback does", async (t) => {
  const { rpc, call } = await startRpc(t);
  const body = '{"jsonrpc":"2.0","id":1,"method":"evm_mine","params":[]}';
  for (const headers of [
    { Origin: "https://evil.example" },
    { Origin: "null" },
    { Host: `evil.example:${rpc.port}` },
  ]) {
    const { status, headers: answered } = await ask(rpc.port, { body, headers });
    t.equal(status, 403);
    t.notOk(answered["access-control-allow-origin"]);
  }
  const socket = new WebSocket(rpc.url.replace("http:", "ws:"), {
    headers: { Origin: "https://evil.example" },
  });
  socket.on("error", () => {});
  const [, response] = await once(socket, "unexpected-response");
  t.equal(response.statusCode, 403);
  socket.terminate();
  t.match(await call("eth_blockNumber"), { result: "0x0" }, "nothing of it was carried out");

  const local = await ask(rpc.port, { body, headers: { Origin: "http://localhost:3000" } });
  t.equal(local.status, 200);
  t.equal(local.headers["access-control-allow-origin"], "http://localhost:3000");
  t.match(await call("eth_blockNumber"), { result: "0x1" });
});

t.test("it serves JSON-RPC and nothing else", async (t) => {
  const { anvil, rpc } = await startRpc(t);
  for (const [method, path, expected] of [
    ["GET", "/", 405],
    ["GET", "/network.json", 404],
    ["GET", "/explorer/", 404],
  ] as const) {
    t.equal((await ask(rpc.port, { method, path })).status, expected, `${method} ${path}`);
  }
  await anvil.stop();
  const { status, body } = await ask(rpc.port);
  t.equal(status, 503);
  t.match(JSON.parse(body).error.message, `The dev chain (${anvil.url}) does not answer: ECONNREFUSED`);
});
