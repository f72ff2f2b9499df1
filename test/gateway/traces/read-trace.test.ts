import { encodeRlp, Transaction, Wallet } from "ethers";
import t from "tap";
import type { TraceKind } from "../../../gateway/methods/method-table.ts";
import { readTrace } from "../../../gateway/traces/read-trace.ts";
import { traceSettingsSchema } from "../../../gateway/traces/trace-settings.ts";

const bounds = traceSettingsSchema.parse({});
const heavy = { ...bounds, heavyOptions: true };
const hash = `0x${"ab".repeat(32)}`;
const to = `0x${"11".repeat(20)}`;

function read(kind: TraceKind, params: unknown, using = bounds): unknown {
  const written = readTrace({ kind, paramsText: JSON.stringify(params), bounds: using });
  return "refused" in written ? written.message : JSON.parse(written.paramsText);
}

t.test("a call's gas is written out, and refused beyond the bound", async (t) => {
  t.same(read("call", [{ to }, ["trace"], "0x1"]), [{ to, gas: "0x1e8480" }, ["trace"], "0x1"]);
  t.same(read("call", [{ to, gas: "0x5208" }, ["trace"]]), [{ to, gas: "0x5208" }, ["trace"], "latest"]);
  t.same(read("call", [{ to, gas: 21000 }, ["trace"]]), [{ to, gas: "0x5208" }, ["trace"], "latest"]);
  t.same(read("debugCall", [{ to, gas: "0x1e8480" }, "0x1"]), [
    { to, gas: "0x1e8480" },
    "0x1",
    { disableStorage: true, disableMemory: true },
  ]);
  for (const gas of ["0x1e8481", "0xffffffffffffffffffff", 2_000_001, "2000001"])
    t.match(read("call", [{ to, gas }, ["trace"]]), /at most 2000000/, String(gas));
  for (const gas of [-1, "lots", {}, [], true, "0x", 1.5])
    t.match(read("call", [{ to, gas }, ["trace"]]), /gas must be a number/, JSON.stringify(gas));
});

t.test("what is sent twice or not known to us never reaches a validator", async (t) => {
  const twice = `[{"to":"${to}","gas":"0x2faf080","gas":"0x5208"},["trace"],"0x1"]`;
  const written = readTrace({ kind: "call", paramsText: twice, bounds });
  t.same(written, { paramsText: `[{"to":"${to}","gas":"0x5208"},["trace"],"0x1"]` });
  for (const name of ["gasLimit", "Gas", "strict", "blockOverrides", "__proto__"]) {
    const call: unknown = JSON.parse(`{"${name}":"0x2faf080"}`);
    t.match(read("call", [call, ["trace"]]), /no other member/, name);
  }
  for (const call of [null, [], "x", 1]) t.match(read("call", [call, ["trace"]]), /must be an object/);
});

t.test("many calls share the bound, and are bounded in number", async (t) => {
  const item = (gas?: string) => [gas === undefined ? { to } : { to, gas }, ["trace"]];
  t.same(read("callMany", [[item(), item()], "0x1"]), [
    [
      [{ to, gas: "0xf4240" }, ["trace"]],
      [{ to, gas: "0xf4240" }, ["trace"]],
    ],
    "0x1",
  ]);
  t.match(read("callMany", [[item("0x1e8480"), item("0x1")]]), /2000001 gas/);
  t.match(read("callMany", [Array.from({ length: 17 }, () => item("0x1"))]), /At most 16 calls/);
  t.match(read("callMany", [{}]), /list of calls/);
  t.match(read("callMany", [[{}]]), /must be an object/);
  t.same(read("callMany", [[]]), [[], "latest"]);
});

t.test("what holds much memory is off unless it is allowed", async (t) => {
  for (const types of [["vmTrace"], ["trace", "stateDiff"], ["other"], "trace", [1], undefined])
    t.match(read("call", [{ to }, types]), /list of: trace$/, JSON.stringify(types));
  t.same(read("call", [{ to, gas: "0x1" }, ["trace", "vmTrace", "vmTrace"]], heavy), [
    { to, gas: "0x1" },
    ["trace", "vmTrace"],
    "latest",
  ]);
  const options = (given: unknown, using = bounds) => {
    const written = read("transaction", [hash, given], using);
    return Array.isArray(written) ? written[1] : written;
  };
  const quiet = { disableStorage: true, disableMemory: true };
  t.same(read("transaction", [hash]), [hash]);
  t.same(options({}), quiet);
  t.same(options(null), quiet);
  t.same(options({ disableStack: true, timeout: "10s", reexec: 128 }), { ...quiet, disableStack: true });
  t.same(options({ enableMemory: false }), quiet);
  t.same(options({ tracer: "callTracer", tracerConfig: { onlyTopCall: true } }), {
    ...quiet,
    tracer: "callTracer",
    tracerConfig: { onlyTopCall: true },
  });
  for (const name of ["disableStorage", "disableMemory"]) {
    t.match(options({ [name]: false }), /Storage and memory are not traced/);
    t.match(options({ [name]: "no" }), /must be true or false/);
    t.match(options({ [name]: false }, heavy), { [name]: false });
  }
  t.match(options({ enableMemory: true }), /Storage and memory are not traced/);
  t.match(options({ enableMemory: true }, heavy), { disableMemory: false });
  for (const tracer of ["{result: function() {}}", "prestateTracer", 1])
    t.match(options({ tracer }), /A tracer must be one of/);
  for (const other of [{ opcodes: [] }, { stateOverrides: {} }, { tracerConfig: { diffMode: true } }])
    t.match(options(other), /no others/, JSON.stringify(other));
  t.match(options(5), /must be an object/);
});

t.test("a trace of what was mined keeps its place, its types and its options", async (t) => {
  t.same(read("transaction", [hash, ["0x0", "0x1"]]), [hash, ["0x0", "0x1"]], "trace_get");
  t.same(read("block", ["0x1", ["trace"]]), ["0x1", ["trace"]], "trace_replayBlockTransactions");
  t.match(read("block", ["0x1", ["stateDiff"]]), /list of: trace$/);
  t.same(read("block", ["0x1"]), ["0x1"]);
  t.match(read("block", ["0x1", {}, {}]), /fewer parameters/);
});

t.test("raw bytes are traced within the gas that they may use", async (t) => {
  const wallet = new Wallet(`0x${"01".repeat(32)}`);
  const sign = (gasLimit: number, type: number) =>
    wallet.signTransaction({
      type,
      chainId: 8845,
      nonce: 0,
      to,
      gasLimit,
      gasPrice: type === 0 ? 0 : null,
    });
  for (const type of [0, 2]) {
    const small = await sign(21_000, type);
    t.same(read("rawTransaction", [small, ["trace"]]), [small, ["trace"]]);
    t.match(read("rawTransaction", [await sign(2_000_001, type), ["trace"]]), /2000001 gas/);
  }
  for (const raw of ["0x", "0xzz", 1, `0x${"00".repeat(200_000)}`])
    t.match(read("rawTransaction", [raw, ["trace"]]), /raw bytes of a transaction/);

  const legacy = ["0x", "0x", "0x1e8480", to, "0x", "0x", "0x1b", "0x01", "0x01"];
  const typed = await sign(21_000, 2);
  t.equal(Transaction.from(typed).gasLimit, 21_000n);
  const block = (...transactions: unknown[]) => encodeRlp(JSON.parse(JSON.stringify([[], transactions, []])));
  t.match(read("rawBlock", [block(legacy)]), [block(legacy), { disableMemory: true }]);
  t.match(read("rawBlock", [block(legacy, typed)]), /2021000 gas/, "whatever its header says");
  t.match(read("rawBlock", ["0xc0"]), /raw bytes of a block/);
});
