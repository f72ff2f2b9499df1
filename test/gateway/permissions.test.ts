import t from "tap";
import { type MethodRule, readMethodTable } from "../../gateway/method-table.ts";
import { coreKey, qaKey, rpcOnlyKey, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { startStubValidator } from "../helpers/stub-validator.ts";

const methods = readMethodTable(new URL("../../config/methods.yaml", import.meta.url).pathname);

t.test("permissions", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const gateway = await startGateway(t, { redisUrl: redis.url, upstreams: [validator.url] });

  const outcomes = async (key: string, rules: readonly MethodRule[]) => {
    const seenBefore = validator.bodies.length;
    const codes: unknown[] = [];
    for (let at = 0; at < rules.length; at += 100) {
      const batch = rules.slice(at, at + 100).map(({ name, blocksMax }, id) => ({
        jsonrpc: "2.0",
        id,
        method: name,
        params: blocksMax === undefined ? [] : [{ fromBlock: "0x1", toBlock: "0x2" }],
      }));
      const { json } = await gateway.post(batch, { key });
      for (const item of json as { result?: string; error?: { code: number } }[]) {
        codes.push(item.result ?? item.error?.code);
      }
    }
    const seen = validator.bodies.slice(seenBefore).map((body) => JSON.parse(body).method);
    return { codes, seen: new Set(seen) };
  };
  // Filters and subscriptions have tests of their own; eth_blockNumber is answered from the head.
  const all = [...methods.rules.values()].filter(
    ({ name, answeredBy }) => name !== "eth_blockNumber" && answeredBy === "validator",
  );
  const names = (rules: readonly MethodRule[]) => rules.map(({ name }) => name);

  t.test("a key with explorer may call every method of the table", async (t) => {
    for (const key of [coreKey, qaKey]) {
      const { codes, seen } = await outcomes(key, all);
      t.same(codes, names(all));
      t.equal(seen.size, all.length);
    }
  });

  t.test("a key with rpc alone may call the public set, and no validator sees the rest", async (t) => {
    const { codes, seen } = await outcomes(rpcOnlyKey, all);
    t.same(
      codes,
      all.map(({ name, permission }) => (permission === "rpc" ? name : -32601)),
    );
    t.same([...seen].sort(), names(all.filter(({ permission }) => permission === "rpc")).sort());
  });

  t.test("what is refused to everybody reaches no validator, with any key", async (t) => {
    const before = validator.bodies.length;
    for (const method of [
      "admin_peers",
      "debug_setHead",
      "eth_sendTransaction",
      "eth_nonsense",
      "__proto__",
    ]) {
      const { status, json } = await gateway.post({ jsonrpc: "2.0", id: 1, method, params: [] });
      t.equal(status, 200, method);
      t.match(json, { id: 1, error: { code: -32601, data: { code: /^(forbidden|not_found)$/ } } });
    }
    t.equal(validator.bodies.length, before);
  });

  t.test("a refusal of one method names what is missing", async (t) => {
    const { status, json } = await gateway.post(
      { jsonrpc: "2.0", id: "a", method: "txpool_status" },
      { key: rpcOnlyKey },
    );
    t.equal(status, 200);
    t.match(json, {
      id: "a",
      error: { code: -32601, message: /explorer/, data: { code: "insufficient_permission" } },
    });
  });
});
