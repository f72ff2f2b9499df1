import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { z } from "zod";
import { benchKeys, limitedKey } from "../../scripts/bench/gateway/bench-keys.ts";
import { checkAnswers, WrongAnswerError } from "../../scripts/bench/gateway/check-answers.ts";
import { nginx } from "../../scripts/bench/gateway/contestants/nginx.ts";
import { parseCoreList, splitCores } from "../../scripts/bench/gateway/cores.ts";
import type { Measurement } from "../../scripts/bench/gateway/measure.ts";
import { readOptions } from "../../scripts/bench/gateway/options.ts";
import { findPrograms, missingForAll } from "../../scripts/bench/gateway/programs.ts";
import { spreadOf, summarizeWorkload } from "../../scripts/bench/gateway/summarize.ts";
import { createStubChain } from "../../scripts/bench/gateway/validators/stub-chain.ts";
import { createUnique, fill, type WorkloadName, workloads } from "../../scripts/bench/gateway/workloads.ts";
import { readCpuProfile } from "../../scripts/bench/profile/read-cpu-profile.ts";
import { summarizeSpread } from "../../scripts/bench/spread/summarize-spread.ts";
import { judge, summarizeTurns, type Turn } from "../../scripts/bench/workers/judge.ts";
import { readOptions as readWorkersOptions } from "../../scripts/bench/workers/options.ts";
import { nodeEnvironment } from "../helpers/node-environment.ts";
import { testFolder } from "../helpers/test-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const programs = await findPrograms({ contestants: [nginx], path: process.env["PATH"] });
const cannotMeasure = missingForAll(programs).join("; ") || false;
const hasNginx = programs.found["nginx"] !== undefined;

const result = z.object({
  works: z.array(
    z.object({
      contestant: z.string(),
      work: z.string(),
      requestsPerCpuSecond: z.object({ min: z.number().positive() }),
      arrayLength: z.object({ median: z.number() }),
      reachedShare: z.object({ median: z.number() }),
      peakMemoryBytes: z.object({ median: z.number().positive() }),
      errors: z.literal(0),
      wrong: z.literal(0),
      againstNginx: z.object({ requestsPerCpuSecond: z.object({ median: z.number() }) }).optional(),
    }),
  ),
});

t.test(
  "the bench measures the gateway beside nginx and leaves nothing behind",
  { skip: cannotMeasure },
  async (t) => {
    const bench = runBench(t, [
      "--only",
      "nginx,ours",
      "--work",
      "mix",
      "--rounds",
      "1",
      "--seconds",
      "1",
      "--json",
      "-",
    ]);
    const { code, stdout, stderr } = await bench.ended;
    t.equal(code, 0, stderr);
    const rows = new Map(result.parse(JSON.parse(stdout)).works.map((row) => [row.contestant, row]));
    t.strictSame([...rows.keys()], hasNginx ? ["nginx", "ours"] : ["ours"]);
    const ours = rows.get("ours");
    // Block numbers, three calls of ten, are the gateway's own answer; all else may come from memory or not.
    t.ok(ours !== undefined && ours.reachedShare.median < 0.75, "block numbers reach no validator");
    t.equal(ours?.againstNginx === undefined, !hasNginx);
    // The gateway, which stays up meanwhile, looks at a validator anew that was slow on a busy machine.
    if (hasNginx)
      t.match(
        rows.get("nginx")?.arrayLength.median.toFixed(2),
        "1.00",
        "nginx passes requests on one by one",
      );
    t.match(stderr, /ours answers rightly, refuses wrong keys and keeps limits/);
    t.match(stderr, /round 1 of 1, mix, ours: \d+ requests\/s/, "progress is told");
    t.strictSame(bench.leftovers(), { files: [], processes: [] });
  },
);

t.test("two workers are measured beside one, with a verdict", { skip: cannotMeasure }, async (t) => {
  const args = ["workers", "--work", "mix", "--rounds", "1", "--seconds", "1"];
  const bench = runBench(t, args);
  const { code, stdout, stderr } = await bench.ended;
  t.match(stderr, /2 workers: answers rightly, refuses wrong keys and keeps limits/);
  t.match(
    stdout,
    /primary \d+\.\d %, head \d+\.\d %, worker-1 \d+\.\d %, worker-2 \d+\.\d %/,
    "all are counted",
  );
  const verdict = /^(passed|missed): mix, 2 workers: .* × one worker's/m.exec(stdout)?.[1];
  // On a busy machine one second tells nothing of the ratio, but the verdict and the exit code agree.
  t.equal(code, verdict === "passed" ? 0 : 1, stderr);
  t.not(verdict, undefined, stdout);
  t.strictSame(bench.leftovers(), { files: [], processes: [] });
});

t.test("how connections are spread is measured for each way to share a port", async (t) => {
  const args = ["spread", "--workers", "2", "--connections", "8", "--runs", "1"];
  const { code, stdout, stderr } = await runBench(t, args).ended;
  t.equal(code, 0, stderr);
  for (const kind of ["own listeners", "one listener", "handed over"]) {
    for (const pace of ["at once", "in turn"]) t.match(stdout, new RegExp(`${kind} +8 +${pace} +[01]\\.\\d`));
  }
  // What Node's primary hands over one by one it gives in turn.
  t.match(stdout, /handed over +8 +in turn +1\.00 +1\.00 +0\.00 +1\.00–1\.00/);
  t.match(await runBench(t, ["spread", "--connections", "8,0"]).ended, { code: 2, stderr: /whole numbers/ });
});

t.test("a spread is told in parts of an even share", async (t) => {
  const even = { least: 1, most: 1, leastEver: 1, mostEver: 1, deviation: 0 };
  t.strictSame(summarizeSpread([[60, 60]]), even);
  const { least, most, leastEver, mostEver, deviation } = summarizeSpread([
    [30, 90],
    [60, 60],
  ]);
  t.strictSame(
    { least, most, leastEver, mostEver, deviation },
    {
      ...{ least: 0.75, most: 1.25 },
      ...{ leastEver: 0.5, mostEver: 1.5, deviation: 0.25 },
    },
  );
});

t.test("interrupted in the middle, it ends all that it has started", { skip: cannotMeasure }, async (t) => {
  const bench = runBench(t, ["--only", "ours", "--work", "unique", "--rounds", "9", "--seconds", "9"]);
  await bench.says("warming up");
  t.not(bench.leftovers().processes.length, 0, "programs are running");
  bench.interrupt();
  const { code, stderr } = await bench.ended;
  t.equal(code, 130, stderr);
  t.strictSame(bench.leftovers(), { files: [], processes: [] });
});

t.test("what is missing is said with how to install it", async (t) => {
  const path = join(testFolder(t), "bin");
  mkdirSync(path);
  const { code, stderr } = await runBench(t, [], { PATH: path }).ended;
  t.equal(code, 2);
  t.match(stderr, /wrk is not installed: apt-get install wrk\n/);
  t.match(stderr, /redis-server is not installed: apt-get install redis-server\n/);
});

t.test("without a contestant's program the others can be measured", async (t) => {
  const path = join(testFolder(t), "bin");
  mkdirSync(path);
  for (const name of ["wrk", "redis-server", "taskset"]) symlinkSync(process.execPath, join(path, name));
  const absent = {
    ...nginx,
    program: { name: "no-such-proxy", debianPackage: "no-such", versionFlag: "-v" },
  };
  const found = await findPrograms({ contestants: [absent], path });
  t.strictSame(missingForAll(found), []);
  t.strictSame(found.missing, [
    { name: "no-such-proxy", advice: "no-such-proxy is not installed: apt-get install no-such" },
  ]);
});

t.test("a bad command line is refused with what was expected", async (t) => {
  for (const [args, expected] of [
    [["--only", "nginx,apache"], /--only: names out of nginx, .* were expected, not "apache"/],
    [["--work", "sleep"], /--work: names out of unique, .* were expected, not "sleep"/],
    [["--rounds", "0"], /--rounds: a whole number from 1 to 100 was expected, not "0"/],
  ] as const) {
    t.match(readOptions(args), { kind: "unusable", text: expected });
  }
  t.match(readWorkersOptions(["--workers", "1"]), { kind: "unusable", text: /a whole number from 2 to 64/ });
  t.match(readWorkersOptions(["--workers", "4"]), { kind: "run", options: { counts: [1, 2, 4] } });
  const [named, profiled] = [runBench(t, ["nonsense"]), runBench(t, ["profile", "--work", "sleep"])];
  t.match(await named.ended, { code: 2, stderr: /Usage: npm run bench -- \[NAME\] \[OPTIONS\]/ });
  t.match(await profiled.ended, { code: 2, stderr: /--work: there is no work "sleep"/ });
});

const chain = createStubChain({ startedAtMs: Date.now() });

t.test("a contestant that does its work rightly passes the check", async (t) => {
  const url = await startContestant(t, {});
  await checkAnswers({ name: "right", url, keepsLimits: true, workloads, chain });
});

t.test("a contestant that answers wrongly is refused", async (t) => {
  for (const [fault, name, expected] of [
    [{ result: () => "0x1" }, "batch", /another result than the validators give/],
    [{ id: () => 1 }, "unique", /id 1, not 2/],
    [{ dropsFromBatches: true }, "batch", /not one answer for each call/],
    [{ blockNumber: "0x1" }, "mix", /another result than the validators give/],
    [{ status: 502 }, "keys", /status 502, not 200/],
    [{ admitsAnyKey: true }, "batch", /a missing key got status 200, not 401 or 403/],
    [{ limitPerMinute: limitedKey.limitPerMinute - 1 }, "batch", /call 5 .* got status 429, not 200/],
    [{ limitPerMinute: limitedKey.limitPerMinute + 1 }, "batch", /call 6 .* got status 200, not 429/],
  ] satisfies [Fault, WorkloadName, RegExp][]) {
    const url = await startContestant(t, fault);
    const asked = workloads.filter((work) => work.name === name);
    const checked = checkAnswers({ name: "wrong", url, keepsLimits: true, workloads: asked, chain });
    await t.rejects(checked, { name: WrongAnswerError.name, message: expected });
  }
});

t.test("requests are as the issue wants them", async (t) => {
  const mix = workloads.find(({ name }) => name === "mix")?.requests ?? [];
  const methods = mix.map(({ body }) => /"method":"(\w+)"/.exec(body)?.[1]);
  const shares = Object.fromEntries(
    [...new Set(methods)].map((method) => [method, methods.filter((one) => one === method).length]),
  );
  t.strictSame(shares, {
    eth_blockNumber: 30,
    eth_call: 30,
    eth_getBalance: 20,
    eth_getTransactionReceipt: 10,
    eth_chainId: 10,
  });
  const withParams = mix.filter(({ body }) => !body.includes('"params":[]'));
  t.equal(
    withParams.filter(({ body }) => !body.includes("{u}")).length,
    withParams.length / 10,
    "a tenth repeats",
  );
  const keys = workloads.find(({ name }) => name === "keys")?.requests ?? [];
  t.equal(new Set(keys.map(({ keyIndex }) => benchKeys[keyIndex]?.value)).size, 100, "100 keys take turns");
  const [first, second] = [createUnique(1), createUnique(2)];
  const bodies = [first, first, second, second].map((next) =>
    fill(workloads[0]?.requests[0]?.body ?? "", next),
  );
  t.equal(new Set(bodies).size, 4, "no parameter comes twice, in no run");
});

t.test("ratios are taken within a round, medians over rounds", async (t) => {
  const rounds = (rates: number[]) => rates.map((rate) => ({ ...measurement, requestsPerCpuSecond: rate }));
  const row = summarizeWorkload({
    contestant: "ours",
    work: "unique",
    rounds: rounds([200, 90, 20]),
    // The second round of nginx was half as fast because the machine was busy, and so was ours.
    nginx: rounds([100, 50, 100]),
  });
  t.strictSame(row.requestsPerCpuSecond, { median: 90, min: 20, max: 200 });
  t.strictSame(row.againstNginx?.requestsPerCpuSecond, { median: 1.8, min: 0.2, max: 2 });
  t.strictSame(spreadOf([4, 1, 3, 2]), { median: 2.5, min: 1, max: 4 });
});

t.test("the proxy has a core of its own where there are two", async (t) => {
  t.strictSame(splitCores(parseCoreList("0-1")), { proxy: [1], load: [0] });
  t.strictSame(splitCores(parseCoreList("2,4-6")), { proxy: [6], load: [2, 4, 5] });
  t.strictSame(splitCores([3]), { proxy: [3], load: [3] });
});

t.test("workers have a core each where as many are left for the load, else one for all", async (t) => {
  t.strictSame(splitCores(parseCoreList("0-3"), 2), { proxy: [2, 3], load: [0, 1] });
  t.strictSame(splitCores(parseCoreList("0-2"), 2), { proxy: [2], load: [0, 1] });
  t.strictSame(splitCores(parseCoreList("0-1"), 2), { proxy: [1], load: [0] });
});

t.test("workers are judged by calls a second where they have cores, else by CPU time", async (t) => {
  const turn = (callsPerSecond: number, cpuUsPerCall: number, errors = 0): Turn => {
    const processes = { primary: 0.5, "worker-1": 1.5 };
    return {
      callsPerSecond,
      cpuUsPerCall,
      processes,
      arrayLength: 1,
      memoryBytes: 1,
      errors,
      wrong: 0,
      firstProblem: undefined,
    };
  };
  const row = (...turns: Turn[]) =>
    summarizeTurns({
      work: "unique",
      workers: 2,
      turns,
      ones: [turn(100, 10), turn(50, 20), turn(200, 5)],
    });
  const good = row(turn(180, 11), turn(85, 22), turn(400, 6));
  t.strictSame(good.againstOne.callsPerSecond, { median: 1.8, min: 1.7, max: 2 }, "round by round");
  t.strictSame(good.shares, { primary: 0.25, "worker-1": 0.75 });
  const cores = { hasCores: true };
  t.match(judge(good, cores), {
    passed: true,
    text: /passed: unique, .*1.80 × one worker's \(at least 1.80\)/,
  });
  t.match(judge(row(turn(179, 11), turn(85, 22)), cores), { passed: false, text: /^missed: / });
  const few = { hasCores: false };
  t.match(judge(good, few), { passed: true, text: /CPU time of a call 1.10 × .* \(at most 1.11\)/ });
  t.match(judge(row(turn(300, 11.2)), few), { passed: false, text: /^missed: .* 1.12 × / });
  t.match(
    judge(row(turn(180, 11, 1)), cores),
    { passed: false, text: /1 errors/ },
    "figures of errors mean nothing",
  );
});

t.test("a profile is summed up by function and module, between two moments", async (t) => {
  const frame = (functionName: string, url = "", lineNumber = -1) => ({ functionName, url, lineNumber });
  const text = JSON.stringify({
    nodes: [
      { id: 1, callFrame: frame("(root)"), children: [2, 4, 5] },
      {
        id: 2,
        callFrame: frame("answer", "file:///here/gateway/pipeline/stages/answer.ts", 11),
        children: [3],
      },
      { id: 3, callFrame: frame("writev") },
      { id: 4, callFrame: frame("(idle)") },
      { id: 5, callFrame: frame("(garbage collector)") },
    ],
    startTime: 1000,
    samples: [2, 2, 3, 4, 5, 2],
    timeDeltas: [0, 100, 100, 100, 100, 100],
  });
  const times = readCpuProfile(text, { fromUs: 1100, toUs: 1500, root: "/here/" });
  t.strictSame(times, {
    totalUs: 400,
    idleUs: 100,
    functions: [
      { name: "answer", place: "gateway/pipeline/stages/answer.ts:12", module: "gateway/pipeline", us: 100 },
      { name: "writev ← answer gateway/pipeline/stages/answer.ts:12", place: "", module: "native", us: 100 },
      { name: "(garbage collector)", place: "", module: "GC", us: 100 },
    ],
  });
});

type Fault = {
  result?: () => unknown;
  id?: () => number;
  dropsFromBatches?: boolean;
  blockNumber?: string;
  status?: number;
  admitsAnyKey?: boolean;
  limitPerMinute?: number;
};

type Call = { id: number; method: string; params: unknown[] };

/** A server that does what a contestant must, but for its fault. */
async function startContestant(t: Test, fault: Fault): Promise<string> {
  const { limitPerMinute = limitedKey.limitPerMinute } = fault;
  const keys = new Set([...benchKeys, limitedKey].map(({ value }) => value));
  let limitedCalls = 0;
  const answer = ({ id, method, params }: Call) => ({
    jsonrpc: "2.0",
    id: fault.id?.() ?? id,
    result:
      method === "eth_blockNumber" && fault.blockNumber !== undefined
        ? fault.blockNumber
        : (fault.result?.() ?? chain.resultOf(method, params)),
  });
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const key = String(request.headers["x-api-key"]);
    if (key === limitedKey.value) limitedCalls += 1;
    if (!keys.has(key) && fault.admitsAnyKey !== true) response.writeHead(401).end();
    else if (limitedCalls > limitPerMinute) response.writeHead(429).end();
    else {
      const asked: Call | Call[] = JSON.parse(body);
      const from = fault.dropsFromBatches === true ? 1 : 0;
      const answered = Array.isArray(asked) ? asked.slice(from).map(answer) : answer(asked);
      response.writeHead(fault.status ?? 200).end(JSON.stringify(answered));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`;
}

const measurement: Measurement = {
  requestsPerSecond: 1,
  p50Ms: 1,
  p99Ms: 1,
  requestsPerCpuSecond: 1,
  requestsPerCpuSecondWithRedis: 1,
  cpuShare: 1,
  arrayLength: 1,
  reachedShare: 1,
  errors: 0,
  wrong: { wrong: 0, firstProblem: undefined },
  peakMemoryBytes: 1,
};

/** `npm run bench` with these arguments; its files go to a folder of its own, by which its processes are known too. */
function runBench(t: Test, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const folder = join(testFolder(t, { temporary: {} }), "temporary");
  const script = join(root, "scripts/bench/main.ts");
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", script, ...args], {
    env: { ...nodeEnvironment, TMPDIR: folder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "close").then(() => ({ code: child.exitCode, stdout, stderr }));
  t.teardown(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  return {
    ended,
    interrupt: () => child.kill("SIGINT"),
    async says(text: string): Promise<void> {
      while (!stderr.includes(text) && child.exitCode === null) await once(child.stderr, "data");
    },
    leftovers: () => ({
      files: readdirSync(folder),
      processes: readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(folder)),
    }),
  };
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
