import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { createClientDriver } from "../../../scripts/load/drive/client-driver.ts";
import type { Plan } from "../../../scripts/load/plan/plan.ts";
import { createRecorder } from "../../../scripts/load/record/recorder.ts";
import { load, loadReport, writeMix } from "./load-rig.ts";
import { answerAll, startStubGateway } from "./stub-gateway.ts";
import { createVirtualClock } from "./virtual-clock.ts";

const items = "items: [{ call: eth_getBalance, params: [$account, latest], expect: quantity, tag: reads }]\n";

t.test("stages of the load file are slopes and steps of a rate; the command line's go before", async (t) => {
  const stub = await startStubGateway(t);
  const mix = writeMix(t, `stages: [{ from: 0, rate: 200, for: 1s }, { rate: 50, for: 500ms }]\n${items}`);
  const { report, code } = await loadReport(["--url", stub.url, "--mix", mix]);
  t.equal(code, 0);
  t.match(report.arrivals, { planned: 125, begun: 125 });
  const other = await loadReport(["--url", stub.url, "--mix", mix, "--rate", "20", "--duration", "500ms"]);
  t.equal(other.report.arrivals.begun, 10);
});

t.test("clients begin the next script when the last has ended and they have thought", async (t) => {
  const stub = await startStubGateway(t, async (calls, exchange) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return answerAll(calls, exchange);
  });
  const mix = writeMix(t, `stages: [{ clients: 4, for: 1s }]\nthink: 30ms\n${items}`);
  const { report, code } = await loadReport(["--url", stub.url, "--mix", mix]);
  t.equal(code, 0);
  t.match(report.settings, { stages: [], clients: [{ fromClients: 4, toClients: 4, durationMs: 1000 }] });
  // 50 ms a round: 20 rounds of 4 at most; a busy machine does fewer.
  t.ok(report.arrivals.begun >= 8 && report.arrivals.begun <= 84, `${report.arrivals.begun} begun`);
  t.ok(Math.max(...report.series.map(({ inFlight }) => inFlight)) <= 4);
  const line = await loadReport(["--url", stub.url, "--mix", mix, "--clients", "2", "--duration", "200ms"]);
  t.match(line.report.settings.clients, [{ toClients: 2, durationMs: 200 }]);
});

type ClientPlan = Extract<Plan, { kind: "clients" }>;

/** Clients in virtual time: when scripts begin, and how many run at a time. */
async function runClients(
  plan: ClientPlan,
  { answerAfterMs, of = 1 }: { answerAfterMs: number; of?: number },
) {
  const { clock, at, runUntil } = createVirtualClock();
  const begun: number[] = [];
  const running: { atMs: number; count: number }[] = [];
  let count = 0;
  const driver = createClientDriver({
    plan,
    lengthMs: plan.stages.reduce((sum, { durationMs }) => sum + durationMs, 0),
    part: { index: 0, of },
    pick: () => ({
      name: "a",
      calls: 1,
      run: (intendedMs) =>
        new Promise((resolve) => {
          begun.push(intendedMs);
          count += 1;
          running.push({ atMs: clock.now(), count });
          at(clock.now() + answerAfterMs, () => {
            count -= 1;
            resolve();
          });
        }),
    }),
    dispatcher: {
      request: async () => ({ ok: false, faults: [], wasNotSent: true }),
      expire() {},
      abandonQueue() {},
      queued: () => 0,
    },
    recorder: { ...unusedRecorder(), began() {}, arrival() {} },
    clock,
    onSweep() {},
  });
  await runUntil(driver.run());
  return { begun, running };
}

function unusedRecorder() {
  return createRecorder({
    now: () => 0,
    timeoutMs: 1,
    sliceMs: 1000,
    waiting: () => ({ inFlight: 0, queued: 0 }),
  });
}

t.test("the number of clients follows the stages up and down", async (t) => {
  const { running } = await runClients(
    {
      kind: "clients",
      stages: [
        { fromClients: 0, toClients: 20, durationMs: 10_000 },
        { fromClients: 5, toClients: 5, durationMs: 10_000 },
      ],
      thinkMs: 0,
      maxPerSecond: 100_000,
    },
    { answerAfterMs: 100 },
  );
  const most = (fromMs: number, toMs: number) =>
    Math.max(...running.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map(({ count }) => count));
  t.ok(Math.abs(most(4_000, 5_000) - 10) <= 1, "half way up the slope");
  t.ok(most(9_000, 10_000) >= 19);
  t.equal(most(10_500, 20_000), 5, "a step down");
  const shared = await runClients(
    {
      kind: "clients",
      stages: [{ fromClients: 5, toClients: 5, durationMs: 1000 }],
      thinkMs: 0,
      maxPerSecond: 1e5,
    },
    { answerAfterMs: 100, of: 2 },
  );
  t.equal(
    Math.max(...shared.running.map(({ count }) => count)),
    3,
    "the first of two processes has three of five",
  );
});

t.test("clients that are answered at once begin no more than maxRate", async (t) => {
  const { begun } = await runClients(
    {
      kind: "clients",
      stages: [{ fromClients: 100, toClients: 100, durationMs: 5_000 }],
      thinkMs: 0,
      maxPerSecond: 400,
    },
    { answerAfterMs: 0 },
  );
  t.ok(begun.length >= 1_900 && begun.length <= 2_040, `${begun.length} of 400/s in 5 s`);
});

t.test(
  "thresholds in the words of k6 judge the run, a method and a tag; JUnit has a case for each",
  async (t) => {
    const stub = await startStubGateway(t, (calls, exchange) => {
      if (calls[0]?.method !== "eth_gasPrice") return answerAll(calls, exchange);
      exchange.response.writeHead(503).end('<busy & "down">\u0007');
      return undefined;
    });
    const mix = writeMix(
      t,
      `
stages: [{ rate: 100, for: 1s }]
thresholds:
  latency: ["p(95)<5000", "avg>0", "min>=0", "med<5000", { threshold: "max<0.0001" }]
  "latency{method:eth_getBalance}": ["p(99.9)<5000"]
  failed: ["rate<0.01"]
  "failed{tag:reads}": ["rate==0", "count<1"]
  "failed{tag:writes}": ["rate<0.5"]
  calls: ["count==100", "rate>1"]
  mined: ["p(50)<1"]
items:
  - { call: eth_getBalance, params: [$account, latest], expect: quantity, tag: reads }
  - { call: eth_gasPrice, expect: quantity, tag: writes }
`,
    );
    const junitFile = join(dirname(mix), "load.xml");
    const { code, report } = await loadReport([
      "--url",
      stub.url,
      "--mix",
      mix,
      "--seed",
      "3",
      "--junit",
      junitFile,
    ]);
    t.equal(code, 99);
    t.strictSame(
      report.thresholds.filter(({ passed }) => !passed).map(({ name }) => name),
      ["latency max<0.0001", "failed rate<0.01", "failed{tag:writes} rate<0.5", "mined p(50)<1"],
    );
    t.equal(report.thresholds.length, 13);
    t.equal(
      report.thresholds.find(({ name }) => name.startsWith("mined"))?.actual,
      null,
      "nothing waits for a receipt",
    );
    t.strictSame(report.tags.map(({ label }) => label).sort(), ["reads", "writes"]);

    const xml = readFileSync(junitFile, "utf8");
    const cases = [...xml.matchAll(/<testcase classname="tollgate\.load" name="([^"]+)" time="[\d.]+"/g)];
    t.strictSame(
      cases.map(([, name]) => name),
      [
        "the run goes to its end",
        ...report.thresholds.map(({ name }) => name.replaceAll("<", "&lt;").replaceAll(">", "&gt;")),
      ],
    );
    t.match(
      xml,
      /<testsuite id="0" package="tollgate" name="load" timestamp="[\dT:-]{19}" hostname="localhost" tests="14" failures="4" errors="0" time="[\d.]+">/,
    );
    t.equal([...xml.matchAll(/<failure message="[^"<]+" type="threshold">[^<]+<\/failure>/g)].length, 4);
    checkJUnit(t, xml);
  },
);

/** The content model that Ant's and Jenkins' schema of JUnit have in common: who may stand in whom, in which order, with what. */
function checkJUnit(t: Test, xml: string): void {
  const rules: Readonly<Record<string, { in: string; needs: string[] }>> = {
    testsuites: { in: "", needs: [] },
    testsuite: {
      in: "testsuites",
      needs: ["id", "package", "name", "timestamp", "hostname", "tests", "failures", "errors", "time"],
    },
    properties: { in: "testsuite", needs: [] },
    property: { in: "properties", needs: ["name", "value"] },
    testcase: { in: "testsuite", needs: ["classname", "name", "time"] },
    failure: { in: "testcase", needs: ["message", "type"] },
    error: { in: "testcase", needs: ["message", "type"] },
    "system-out": { in: "testsuite", needs: [] },
    "system-err": { in: "testsuite", needs: [] },
  };
  const open: string[] = [];
  const order: string[] = [];
  const body = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, "");
  t.not(body, xml, "the declaration");
  for (const [, closes, name = "", given = "", alone] of body.matchAll(
    /<(\/?)([\w-]+)((?: \w+="[^"<]*")*)(\/?)>/g,
  )) {
    if (closes === "/") {
      t.equal(open.pop(), name);
      continue;
    }
    t.equal(open.at(-1) ?? "", rules[name]?.in, `${name} in ${open.at(-1)}`);
    t.strictSame(
      [...given.matchAll(/ (\w+)="/g)].map(([, attribute]) => attribute),
      rules[name]?.needs ?? [],
    );
    if (open.length === 2) order.push(name);
    if (alone !== "/") open.push(name);
  }
  t.strictSame(open, [], "all is closed");
  t.match(order.join(" "), /^properties( testcase)+ system-out system-err$/);
  const rest = body.replace(/<[^<>]+>/g, "");
  t.notMatch(rest, /[<>]|&(?!(?:amp|lt|gt|quot|#\d+);)/, "no sign of the other side's is markup");
  t.notOk(xml.includes("\u0007"), "XML has no place for it");
}

t.test("a threshold with abortOnFail ends the run, after its delay and not before", async (t) => {
  const stub = await startStubGateway(t, (_calls, { response }) => void response.writeHead(503).end("{}"));
  const text = (seconds: number, delay: string) =>
    `stages: [{ rate: 50, for: ${seconds}s }]\nthresholds: { failed: [{ threshold: "rate<0.1", abortOnFail: true, delayAbortEval: ${delay} }] }\n${items}`;
  const early = await loadReport(["--url", stub.url, "--mix", writeMix(t, text(30, "500ms"))]);
  t.equal(early.code, 99);
  t.equal(early.report.endedBy, "threshold");
  t.ok(early.report.arrivals.begun < 1_000, `${early.report.arrivals.begun} of 1500 begun`);
  t.match(early.err, /Ended early by a missed threshold/);
  const late = await loadReport(["--url", stub.url, "--mix", writeMix(t, text(1, "1h"))]);
  t.match(late, { code: 99, report: { endedBy: null, arrivals: { begun: 50 } } });
});

t.test("a load file that cannot be used says where and why", async (t) => {
  const call = "items: [{ call: eth_chainId, tag: reads }]\n";
  const cases: [string, RegExp][] = [
    [call, /--rate N is missing: .* or `stages` in the load file/],
    [`stages: [{ rate: 5 }]\n${call}`, /mix\.yaml:1: stages\[0\]\.for: a length of time .* was expected/],
    [`stages: [{ rate: 5, for: 10 }]\n${call}`, /stages\[0\]\.for: a length of time .* not "10"/],
    [
      `stages: [{ rate: 5, for: 10 days }]\n${call}`,
      /stages\[0\]\.for: a length of time such as .* not "10 days"/,
    ],
    [`stages: [{ rate: 5, clients: 5, for: 1s }]\n${call}`, /exactly one of rate and clients was expected/],
    [`stages: [{ rate: 5, for: 1s }, { clients: 5, for: 1s }]\n${call}`, /one run cannot have both/],
    [`stages: [{ clients: 5, from: 0.5, for: 1s }]\n${call}`, /stages\[0\]\.from: a whole number of clients/],
    [`stages: [{ rate: 0, for: 1s }]\n${call}`, /no stage has anything to do/],
    [`stages: [{ rate: 100001, for: 1s }]\n${call}`, /stages\[0\]\.rate/],
    [`stages: [{ clients: 10001, for: 1s }]\n${call}`, /stages\[0\]\.clients/],
    [`stages: []\n${call}`, /stages/],
    [
      `thresholds: { latncy: ["p(95)<1"] }\n${call}`,
      /one of latency, .* not "latncy"\. Did you mean latency\?/,
    ],
    [
      `thresholds: { latency: ["p95<1"] }\n${call}`,
      /thresholds\.latency\[0\]: a condition of latency such as p\(95\)<200/,
    ],
    [`thresholds: { latency: ["p(101)<1"] }\n${call}`, /a percentile is at most 100/],
    [`thresholds: { latency: ["rate<1"] }\n${call}`, /latency has p\(N\), med, avg, min, max, not "rate"/],
    [`thresholds: { failed: ["p(95)<1"] }\n${call}`, /failed has rate, count, not "p"/],
    [`thresholds: { failed: ["rate<1; drop"] }\n${call}`, /a condition of failed such as rate<1/],
    [
      `thresholds: { "latency{method:eth_call}": ["p(95)<1"] }\n${call}`,
      /no item has the method "eth_call"; there are eth_chainId/,
    ],
    [
      `thresholds: { "failed{tag:write}": ["rate<1"] }\n${call}`,
      /no item has the tag "write"; there are reads/,
    ],
    [`thresholds: { "failed{team:a}": ["rate<1"] }\n${call}`, /\{method:…\} or \{tag:…\} was expected/],
    [`thresholds: { "mined{tag:reads}": ["p(9)<1"] }\n${call}`, /measured of the whole run only/],
    ["items: [{ call: eth_chainId, tag: two words }]\n", /items\[0\]\.tag: a word of letters/],
  ];
  for (const [text, message] of cases) {
    t.match(await load(["--mix", writeMix(t, text)]), { code: 2, out: "", err: message }, text);
  }
  const line = ["--mix", writeMix(t, call), "--clients", "5"];
  t.match(await load([...line, "--rate", "5"]), {
    code: 2,
    err: /--clients goes with neither --rate nor --ramp/,
  });
  t.match(await load([...line, "--junit", "/nowhere/load.xml"]), { code: 2, err: /its folder is missing/ });
});
