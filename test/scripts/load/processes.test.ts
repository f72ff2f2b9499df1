import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import { createArrivals } from "../../../scripts/load/drive/arrivals.ts";
import { createRandom } from "../../../scripts/load/mix/random.ts";
import { createRecorder, sumParts } from "../../../scripts/load/record/recorder.ts";
import type { LoadRequest } from "../../../scripts/load/request.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { load, loadReport, startProgram, writeMix } from "./load-rig.ts";
import { startStubGateway } from "./stub-gateway.ts";

const mixText =
  "items: [{ call: eth_getBalance, params: [$account, latest], expect: quantity, tag: reads }]\n";
const seed = 17;

t.test("what several processes record is the same as if one had recorded it, to the last bucket", (t) => {
  const random = createRandom(seed);
  let nowMs = 0;
  const create = (isPart: boolean) =>
    createRecorder({
      now: () => nowMs,
      timeoutMs: 5_000,
      sliceMs: 1_000,
      waiting: () => ({ inFlight: 1, queued: 0 }),
      isPart,
    });
  const whole = create(false);
  const parts = [create(true), create(true), create(true)];
  for (let count = 0; count < 6_000; count += 1) {
    nowMs = count;
    const request: LoadRequest = {
      label: random() < 0.5 ? "eth_call" : "eth_getBalance",
      tag: random() < 0.3 ? "reads" : undefined,
      body: "",
      calls: [{ method: "eth_call", id: 1, expectation: { kinds: ["any"], equals: undefined } }],
      isBatch: false,
    };
    // Parts differ much, so that an average of their percentiles would be far off.
    const index = Math.floor(random() * 3);
    const latencyMs = random() ** 4 * 10 ** (index + 1);
    const fault = { kind: "http", code: "503", method: "eth_call", message: "down", calls: 1 } as const;
    const faults = random() < 0.05 ? [fault] : [];
    for (const recorder of [whole, parts[index]]) {
      recorder?.arrival(latencyMs / 10);
      recorder?.ended({ request, faults, latencyMs, serviceMs: latencyMs / 2, wasCutOff: false });
    }
  }
  const { recorded } = sumParts(
    // As they come through a channel between processes.
    parts.map((part) => structuredClone(part.part())),
    { elapsedMs: nowMs, stuck: undefined },
  );
  const byLabel = (rows: readonly { label: string }[]) =>
    [...rows].sort((a, b) => a.label.localeCompare(b.label));
  const expected = whole.result();
  const withoutOrder = (of: typeof expected) => ({
    ...of,
    methods: byLabel(of.methods),
    tags: byLabel(of.tags),
    series: of.series.map(({ inFlight: _sum, ...slice }) => slice),
  });
  t.strictSame(withoutOrder(recorded), withoutOrder(expected), `seed ${seed}`);
  t.ok(expected.latencyMs.p99 > 300 && expected.latencyMs.p50 < 20, "the parts do differ");
  t.end();
});

t.test("the arrivals of several processes are together those of one", (t) => {
  const stages = [
    { fromPerSecond: 10, toPerSecond: 300, durationMs: 2_000 },
    { fromPerSecond: 100, toPerSecond: 100, durationMs: 1_000 },
  ];
  const timesOf = (kind: "constant" | "poisson", part = { index: 0, of: 1 }) => {
    const arrivals = createArrivals({ stages, kind, random: createRandom(seed + part.index), part });
    const times: number[] = [];
    for (let next = arrivals.next(); next !== undefined; next = arrivals.next()) times.push(next);
    return times;
  };
  const shared = (kind: "constant" | "poisson") =>
    [0, 1, 2].flatMap((index) => timesOf(kind, { index, of: 3 })).sort((a, b) => a - b);
  t.strictSame(shared("constant"), timesOf("constant"));
  const random = shared("poisson").length;
  t.ok(Math.abs(random - 410) < 5 * Math.sqrt(410), `${random} of 410, seed ${seed}`);
  t.end();
});

t.test("processes run one plan, and a threshold is held against their sum", async (t) => {
  const stub = await startStubGateway(t);
  const mix = writeMix(
    t,
    `thresholds: { calls: ["count==101"], "failed{tag:reads}": ["rate==0"] }\n${mixText}`,
  );
  const line = ["--url", stub.url, "--mix", mix, "--processes", "2"];
  const { report, code } = await loadReport([...line, "--rate", "101", "--duration", "1s"]);
  t.strictSame(report.notes, []);
  t.equal(code, 0);
  t.match(report, { arrivals: { planned: 101, begun: 101 }, calls: { total: 101, failed: 0 } });
  t.equal(report.latencyMs.count, 101);
  t.equal(
    report.series.reduce((sum, { calls }) => sum + calls, 0),
    101,
  );
  t.equal(stub.bodies.length, 101);
});

t.test("a process that dies is told, and fails the run; the others end with it", async (t) => {
  const stub = await startStubGateway(t);
  const mix = writeMix(t, mixText);
  const jsonFile = join(dirname(mix), "load.json");
  const program = startProgram(
    t,
    [
      ...["--url", stub.url, "--mix", mix, "--processes", "2", "--rate", "50", "--duration", "10m"],
      ...["--warmup", "0", "--json", jsonFile],
    ],
    { TOLLGATE_KEY: "a-key-for-tests" },
  );
  await waitFor("calls are there", () => stub.bodies.length >= 10);
  const children = readFileSync(`/proc/${program.pid}/task/${program.pid}/children`, "utf8")
    .trim()
    .split(" ");
  const killed = Number(children[0]);
  process.kill(killed, "SIGKILL");
  const { code, err } = await program.ended;
  t.equal(code, 1);
  const report = JSON.parse(readFileSync(jsonFile, "utf8"));
  t.equal(report.endedBy, "lost process");
  t.match(report.notes.join("\n"), new RegExp(`Process \\d of 2 \\(${killed}\\) ended early by SIGKILL`));
  t.ok(report.calls.total > 0, "what the other one measured is there");
  t.equal(err.includes("Error"), false, err);
});

t.test("Ctrl-C and what the gateway refuses go through the processes", async (t) => {
  const stub = await startStubGateway(t);
  const mix = writeMix(t, mixText);
  const program = startProgram(
    t,
    ["--url", stub.url, "--mix", mix, "--processes", "2", "--rate", "50", "--warmup", "0", "--json", "-"],
    { TOLLGATE_KEY: "a-key-for-tests" },
  );
  await waitFor("calls are there", () => stub.bodies.length >= 10);
  program.kill("SIGINT");
  const { code, out } = await program.ended;
  t.equal(code, 130);
  t.match(JSON.parse(out), { endedBy: "SIGINT" });

  const nobody = ["--url", "http://127.0.0.1:9", "--mix", mix, "--rate", "5", "--processes", "2"];
  t.match(await load(nobody), { code: 2, out: "", err: /cannot be reached/ });
  const few = writeMix(t, `senders: { count: 2 }\n${mixText}`);
  t.match(await load(["--mix", few, "--rate", "5", "--processes", "3"]), {
    code: 2,
    err: /2 senders cannot be shared by 3 processes/,
  });
  t.match(await load(["--mix", few, "--rate", "5", "--processes", "65"]), {
    code: 2,
    err: /from 1 to 64, or auto/,
  });
});
