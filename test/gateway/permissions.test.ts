import { encodeRlp, Wallet } from "ethers";
import t from "tap";
import { type MethodRule, readMethodTable, type TraceKind } from "../../gateway/methods/method-table.ts";
import { echoMethod, type StubAnswer, startStubValidator } from "../fakes/stub-validator.ts";
import { coreKey, qaKey, rpcOnlyKey, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";

const methods = readMethodTable(new URL("../../config/methods.yaml", import.meta.url).pathname);

const hash = `0x${"1".repeat(64)}`;
const wallet = new Wallet(hash);
const raw = await wallet.signTransaction({ type: 0, chainId: 8845, nonce: 0, gasLimit: 21_000, gasPrice: 0 });
const block = { number: "0x1", gasUsed: "0x0", gasLimit: "0x1" };

/** What each kind of trace is asked with, so that it is within its bounds. */
const traceParams: Readonly<Record<TraceKind, readonly unknown[]>> = {
  call: [{}, ["trace"]],
  callMany: [[[{}, ["trace"]]]],
  debugCall: [{}],
  rawTransaction: [raw, ["trace"]],
  rawBlock: [encodeRlp([[], [], []])],
  transaction: [hash],
  block: [hash],
  range: [{ fromBlock: "0x1", toBlock: "0x1" }],
};

function paramsOf({ trace, blocksMax }: MethodRule): readonly unknown[] {
  if (trace !== undefined) return traceParams[trace];
  return blocksMax === undefined ? [] : [{ fromBlock: "0x1", toBlock: "0x2" }];
}

/** Answers with the method's name, and what is looked up before a trace so that this may be run. */
const knowing: StubAnswer = (body, response, request) => {
  const { id, method, params }: { id: number; method: string; params: unknown[] } = JSON.parse(body);
  const looked: Readonly<Record<string, object>> = {
    eth_getTransactionReceipt: { eth_getTransactionReceipt: 1, gasUsed: "0x5208" },
    eth_getBlockByHash: { eth_getBlockByHash: 1, ...block },
    eth_getBlockByNumber: { eth_getBlockByNumber: 1, ...block },
    eth_feeHistory: { eth_feeHistory: 1, gasUsedRatio: [0] },
  };
  const result = params.length === 0 ? undefined : looked[method];
  if (result === undefined) return echoMethod(body, response, request);
  return JSON.stringify({ jsonrpc: "2.0", id, result });
};

t.test("permissions", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t, { answer: knowing });
  const gateway = await startGateway(t, { redisUrl: redis.url, upstreams: [validator.url] });

  const outcomes = async (key: string, rules: readonly MethodRule[]) => {
    const seenBefore = validator.bodies.length;
    const codes: unknown[] = [];
    for (let at = 0; at < rules.length; at += 100) {
      const batch = rules.slice(at, at + 100).map((rule, id) => ({
        jsonrpc: "2.0",
        id,
        method: rule.name,
        params: paramsOf(rule),
      }));
      const { json } = await gateway.post(batch, { key });
      for (const item of json as { result?: string | object; error?: { code: number } }[]) {
        const { result } = item;
        codes.push(typeof result === "object" ? Object.keys(result)[0] : (result ?? item.error?.code));
      }
    }
    // What a trace would cost is looked up before it is asked.
    const isAsked = new Set(rules.map(({ name }) => name));
    const seen = validator.bodies.slice(seenBefore).map((body): string => JSON.parse(body).method);
    return { codes, seen: new Set(seen.filter((method) => isAsked.has(method))) };
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
