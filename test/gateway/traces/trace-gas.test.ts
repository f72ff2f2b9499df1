import t from "tap";
import { startMortals } from "./trace-rig.ts";

const mined = `0x${"aa".repeat(32)}`;
const greedy = `0x${"bb".repeat(32)}`;

t.test("what was mined is traced only where its gas is within the bound", async (t) => {
  const { cluster, gateway, seen } = await startMortals(t, { gateways: 1 });
  for (const validator of cluster.validators) {
    validator.answer("eth_getTransactionReceipt", ([hash]) => {
      const gasUsed = hash === mined ? "0x5208" : "0x1c8c880";
      if (hash !== mined && hash !== greedy) return { result: "null" };
      return { result: JSON.stringify({ transactionHash: hash, blockNumber: "0x1", gasUsed }) };
    });
    for (const method of ["debug_traceTransaction", "trace_transaction", "trace_get", "trace_block"]) {
      validator.answer(method, { result: '"traced"' });
    }
    for (const method of ["trace_filter", "debug_traceBlockByHash", "trace_replayBlockTransactions"]) {
      validator.answer(method, { result: '"traced"' });
    }
  }
  const ask = async (method: string, params: unknown[]) =>
    (await gateway.post({ jsonrpc: "2.0", id: 1, method, params })).json;
  for (const method of ["debug_traceTransaction", "trace_transaction", "trace_get"]) {
    const more = method === "trace_get" ? [["0x0"]] : [];
    t.match(await ask(method, [mined, ...more]), { result: "traced" }, method);
    t.match(await ask(method, [greedy, ...more]), {
      error: { code: -32602, message: /29936768 gas|at most 2000000/ },
    });
    t.match(await ask(method, [`0x${"cc".repeat(32)}`, ...more]), {
      error: { message: /only mined transactions and blocks/ },
    });
    t.match(await ask(method, ["0x1", ...more]), { error: { message: /a transaction's hash/ } });
  }
  t.match(await ask("trace_block", ["0x1"]), { result: "traced" }, "an empty block");
  t.match(await ask("trace_block", []), { result: "traced" });
  t.match(await ask("trace_block", ["pending"]), { error: { message: /a mined block/ } });
  t.match(await ask("trace_block", ["0xffff"]), { error: { message: /only mined transactions and blocks/ } });
  t.match(await ask("trace_filter", [{ fromBlock: "0x1", toBlock: "0x3" }]), { result: "traced" });
  t.match(await ask("trace_filter", [{ fromBlock: "0x1", toBlock: "pending" }]), {
    error: { message: /a mined block/ },
  });

  const hash = `0x${"dd".repeat(32)}`;
  const full = JSON.stringify({ number: "0x2", hash, gasUsed: "0x1c8c880", gasLimit: "0x1c9c380" });
  for (const validator of cluster.validators) {
    validator.answer("eth_getBlockByHash", { result: full });
    validator.answer("eth_getBlockByNumber", ([number]) => (number === "0x2" ? { result: full } : undefined));
    validator.answer("eth_feeHistory", ([count]) => ({
      result: JSON.stringify({
        gasUsedRatio: Array.from({ length: Number(count) }, (_, at) => (at === 0 ? 0.5 : 0)),
      }),
    }));
  }
  seen.bodies.length = 0;
  for (const [method, ...params] of [
    ["debug_traceBlockByHash", hash],
    ["trace_replayBlockTransactions", "0x2", ["trace"]],
    ["debug_traceBlockByNumber", "0x2"],
    ["trace_filter", { blockHash: hash }],
    ["trace_filter", { fromBlock: "0x1", toBlock: "0x2" }],
  ] as const) {
    t.match(await ask(method, [...params]), { error: { code: -32602, data: { gasMax: 2_000_000 } } }, method);
  }
  t.same(seen.bodies, []);
});
