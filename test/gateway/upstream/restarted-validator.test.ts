import t from "tap";
import { developmentWallet, signed } from "../../fakes/validators/rpc.ts";
import { startValidators } from "../../fakes/validators/start-validators.ts";
import { startGateway } from "../../helpers/gateway.ts";
import { startRedis } from "../../helpers/redis.ts";

const sends = 4;

t.test(
  "a validator that begins anew between two calls, with an empty pool, costs no sender its nonce",
  async (t) => {
    const [redis, cluster] = await Promise.all([startRedis(t), startValidators(t, { gossipDelayMs: 2 })]);
    await cluster.mine(2);
    const start = () => startGateway(t, { redisUrl: redis.url, upstreams: cluster.urls });
    const [one, other] = await Promise.all([start(), start()]);
    const wallet = developmentWallet(2);
    const pending = async ({ post }: typeof one) => {
      const params = [wallet.address, "pending"];
      return (await post({ jsonrpc: "2.0", id: 1, method: "eth_getTransactionCount", params })).json;
    };

    for (let nonce = 0; nonce < sends; nonce += 1) {
      const params = [await signed(wallet, nonce, { value: 1n })];
      const { json } = await one.post({ jsonrpc: "2.0", id: 1, method: "eth_sendRawTransaction", params });
      t.match(json, { result: /^0x/ });
    }
    await cluster.gossiped();
    t.match(await Promise.all([pending(one), pending(other)]), [{ result: "0x4" }, { result: "0x4" }]);

    const holder = cluster.validators.find(
      (validator) => validator.callsOf("eth_sendRawTransaction") === sends,
    );
    t.ok(holder, "all went to one");
    // Neither gateway asks it anything meanwhile.
    await holder?.die();
    await holder?.comeBack();
    t.same(holder?.pendingHashes(), []);
    t.match(await Promise.all([pending(one), pending(other)]), [{ result: "0x4" }, { result: "0x4" }]);
  },
);
