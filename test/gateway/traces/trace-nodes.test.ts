import t from "tap";
import { qaKey } from "../../helpers/gateway.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { account, callMany, startMortals, unbounded } from "./trace-rig.ts";

const deadly = callMany(50_000_000);
const small = callMany(100_000);
const balance = { jsonrpc: "2.0", id: 1, method: "eth_getBalance", params: [account, "latest"] };

t.test("traces go to the trace node and nowhere else, whatever becomes of it", async (t) => {
  // The last of them is not among the gateway's validators.
  const { cluster, gateway, struck, seen } = await startMortals(t, {
    count: 4,
    gateways: 1,
    change: (config) => ({
      ...unbounded(config),
      upstreams: config.upstreams.slice(0, 3),
      traceUpstreams: config.upstreams.slice(3),
    }),
  });
  const node = cluster.validator(3);
  const answered = (options?: { key: string }) =>
    waitFor("the trace node answers", async () => {
      const { text, json } = await gateway.post(small, options);
      return text.includes('"result"') && json;
    });
  t.match(await answered(), { result: [{ trace: [] }] });
  for (let round = 0; round < 20; round += 1) t.match((await gateway.post(balance)).json, { result: /^0x/ });
  t.equal(node.callsOf("eth_getBalance"), 0, "it gets nothing else");
  t.equal(node.callsOf("trace_callMany"), seen.bodies.length);

  t.match((await gateway.post(deadly)).json, {
    error: { code: -32002, message: /No other validator is asked/ },
  });
  t.same([...struck], [3], "a trace that ends it ends nobody else");
  const { status, json } = await gateway.post(small, { key: qaKey });
  t.equal(status, 503);
  t.match(json, { error: { data: { code: "upstream_unavailable" } } });
  t.match((await gateway.post(balance)).json, { result: /^0x/ }, "reads go on");
  t.equal(
    cluster.validators.slice(0, 3).reduce((sum, one) => sum + one.callsOf("trace_callMany"), 0),
    0,
  );
  const ready: { degraded: boolean; reasons: string[] } = JSON.parse(
    await (await fetch(`${gateway.opsUrl}/readyz`)).text(),
  );
  t.match(ready, { ready: true, degraded: true });
  t.match(ready.reasons.join(), /no trace node answers/);

  await node.comeBack();
  t.match(
    await answered({ key: qaKey }),
    { result: [{ trace: [] }] },
    "once it is back traces are run again",
  );
});
