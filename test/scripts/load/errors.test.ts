import { createServer } from "node:net";
import t, { type Test } from "tap";
import type { ErrorRow } from "../../../scripts/load/record/error-table.ts";
import { loadReport, writeMix } from "./load-rig.ts";
import { answerAll, listen, result, type StubHandler, startStubGateway } from "./stub-gateway.ts";

const single = "items: [{ call: eth_getBalance, params: [$account, latest], expect: quantity }]\n";
const batch = `
items:
  - name: two
    batch:
      - { call: eth_blockNumber, expect: quantity }
      - { call: eth_getBlockByNumber, params: [latest, false], expect: object }
`;

/** Forty requests of the mix before a stub that answers so. */
async function faultsOf(t: Test, mix: string, handle: StubHandler, args: readonly string[] = []) {
  const stub = await startStubGateway(t, handle);
  const { report } = await loadReport([
    ...["--url", stub.url, "--mix", writeMix(t, mix), "--rate", "100", "--duration", "400ms", ...args],
  ]);
  return report;
}

const status =
  (code: number, body: string, headers: Record<string, string> = {}): StubHandler =>
  (_calls, { response }) => {
    response.writeHead(code, headers).end(body);
    return undefined;
  };

const rpcError: StubHandler = ([call]) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: call?.id,
    error: { code: -32601, message: "The method is unknown", data: { code: "not_found" } },
  });

/** As Besu says it, without `data`. */
const plainError: StubHandler = ([call]) =>
  JSON.stringify({ jsonrpc: "2.0", id: call?.id, error: { code: -32602, message: "Invalid params" } });

const tooMany = status(
  429,
  JSON.stringify({
    jsonrpc: "2.0",
    id: null,
    error: { code: -32005, message: "Limit reached.", data: { code: "rate_limited" } },
  }),
  { "RateLimit-Policy": '"default";q=100;w=60', "Retry-After": "42" },
);

t.test(
  "each kind of wrong answer is an error of its own, with an example; right ones are none",
  async (t) => {
    const cases: [StubHandler, Partial<ErrorRow> | undefined, RegExp][] = [
      [answerAll, undefined, /^$/],
      [rpcError, { kind: "json-rpc", code: "-32601 not_found" }, /^The method is unknown$/],
      [status(502, "<h1>Bad Gateway</h1>"), { kind: "http", code: "502" }, /^<h1>Bad Gateway<\/h1>$/],
      [
        tooMany,
        { kind: "http", code: "429 rate_limited" },
        /^Limit reached\. The key's limit is 100 points in 60 s .*42 s\.$/,
      ],
      [() => "<html>", { kind: "wrong answer", code: "no JSON" }, /^<html>$/],
      [() => '{"hello":1}', { kind: "wrong answer", code: "no JSON-RPC" }, /no JSON-RPC 2\.0 answer/],
      [
        ([call]) => result({ id: -(call?.id ?? 0) }, "0x1"),
        { kind: "wrong answer", code: "ids" },
        /asked with id \d+/,
      ],
      [
        ([call]) => result({ id: call?.id ?? 0 }, "0x01"),
        { kind: "wrong answer", code: "result" },
        /expected quantity, got "0x01"/,
      ],
    ];
    let asked = 0;
    const report = await faultsOf(t, single, (calls, exchange) => {
      const [handle] = cases[asked % cases.length] ?? [answerAll];
      asked += 1;
      return handle(calls, exchange);
    });
    t.match(report.calls, { total: 40, failed: 35, errorRate: 0.875 });
    t.equal(report.errors.length, 7);
    for (const [, expected, message] of cases) {
      if (expected === undefined) continue;
      const row = report.errors.find(({ kind, code }) => kind === expected.kind && code === expected.code);
      t.match(row, { calls: 5, example: { method: "eth_getBalance", message } }, String(expected.code));
    }
    t.equal(report.latencyMs.count, 5, "refusals and wrong answers do not flatter the percentiles");
    t.equal(report.failedMs.count, 35, "their times are in a histogram of their own");
  },
);

t.test("an error without data, as Besu's are, is an error with its own code", async (t) => {
  const { errors } = await faultsOf(t, single, plainError);
  t.match(errors, [{ kind: "json-rpc", code: "-32602", calls: 40, example: { message: "Invalid params" } }]);
});

t.test("a refused connection and one that ends before the answer are network errors", async (t) => {
  const cut = await faultsOf(t, single, (_calls, { request }) => {
    request.socket.destroy();
    return undefined;
  });
  t.match(cut.errors, [{ kind: "network", code: "connection closed", calls: 40 }]);

  const stub = await startStubGateway(t, async (_calls, exchange) => {
    exchange.request.socket.destroy();
    await stub.stop();
    return undefined;
  });
  const { report } = await loadReport([
    ...["--url", stub.url, "--mix", writeMix(t, single), "--rate", "100", "--duration", "500ms"],
  ]);
  t.ok(
    report.errors.some(({ kind, code }) => kind === "network" && code === "ECONNREFUSED"),
    JSON.stringify(report.errors),
  );
});

t.test("an answer that does not come is a timeout, and the late answer meets nobody", async (t) => {
  let asked = 0;
  const report = await faultsOf(
    t,
    single,
    async (calls, exchange) => {
      asked += 1;
      // The first ones answer only after they were given up.
      if (asked <= 5) await new Promise((resolve) => setTimeout(resolve, 800));
      return answerAll(calls, exchange);
    },
    ["--timeout", "400ms"],
  );
  // Only timeouts: on a busy machine there can be more of them, but no answer that belongs to another request.
  t.match(report.errors, [{ kind: "timeout", example: { message: "not answered within 0.4 s" } }]);
  t.equal(report.errors.length, 1);
  t.ok(report.calls.failed >= 5, `${report.calls.failed} timeouts`);
  t.ok(report.latencyMs.max >= 400, `it counts with ${report.latencyMs.max} ms`);
});

t.test("a batch's answers are matched by id, and each call is judged for itself", async (t) => {
  const handlers: StubHandler[] = [
    ([number, block]) => (number && block ? `[${result(block, {})},${result(number, "0x1")}]` : ""),
    ([number]) => (number ? `[${result(number, "0x1")}]` : ""),
    () => `[${result({ id: 999_999 }, "0x1")}]`,
    ([number]) => (number ? result(number, "0x1") : ""),
  ];
  let asked = 0;
  const report = await faultsOf(t, batch, (calls, exchange) => {
    asked += 1;
    return handlers[(asked - 1) % handlers.length]?.(calls, exchange);
  });
  // Of ten requests each: the right one in another order, half of one, foreign ids, no array.
  t.match(report.calls, { total: 80, failed: 50 });
  t.match(
    [...report.errors].sort((left, right) => left.code.localeCompare(right.code)),
    [
      { kind: "wrong answer", code: "ids", calls: 20 },
      { kind: "wrong answer", code: "missing", calls: 10, example: { method: "eth_getBlockByNumber" } },
      { kind: "wrong answer", code: "no array", calls: 20 },
    ],
  );
});

t.test("a port where nobody listens ends it before the load", async (t) => {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  await t.rejects(loadReport(["--url", `http://127.0.0.1:${port}`, "--rate", "1"]), {
    message: /cannot be reached \(ECONNREFUSED.*Is the gateway up/,
  });
});
