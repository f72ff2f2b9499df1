import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { dirname, join } from "node:path";
import t from "tap";
import { createProgress } from "../../../scripts/load/report/progress.ts";
import { writeCertificate } from "../../helpers/certificate.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { load, loadReport, root, startProgram, writeMix } from "./load-rig.ts";
import { answerAll, listen, result, startStubGateway } from "./stub-gateway.ts";

const mixText = "items: [{ call: eth_getBalance, params: [$account, latest], expect: quantity }]\n";
const key = "tg_dev_a-secret-that-nobody-may-see";

t.test("thresholds decide the exit code, and the program writes all its reports", async (t) => {
  const stub = await startStubGateway(t);
  const mix = writeMix(t, mixText);
  const [jsonFile, htmlFile] = [join(dirname(mix), "load.json"), join(dirname(mix), "load.html")];
  const common = ["--url", stub.url, "--mix", mix, "--rate", "100", "--duration", "1s", "--warmup", "0"];
  const kept = startProgram(
    t,
    [...common, "--max-p99", "5s", "--max-error-rate", "0%", "--json", jsonFile, "--html", htmlFile],
    { TOLLGATE_KEY: key },
  );
  const missed = startProgram(t, [...common, "--max-p50", "0.001ms", "--json", "-"], { TOLLGATE_KEY: key });
  const [first, second] = await Promise.all([kept.ended, missed.ended]);
  t.equal(first.code, 0);
  t.match(first.out, /100 of 100 scripts begun/);
  t.match(first.out, /calls\/s over time\n.*█/);
  t.match(first.out, /Threshold: p99: .* <= 5\.00 s wanted: kept/);
  t.match(JSON.parse(readFileSync(jsonFile, "utf8")), {
    format: "tollgate-load",
    version: 2,
    endedBy: null,
    passed: true,
    requests: 100,
    calls: { total: 100, failed: 0, cutOff: 0, errorRate: 0 },
    thresholds: [
      { name: "p99", limit: 5_000 },
      { name: "errorRate", limit: 0, actual: 0, passed: true },
    ],
  });
  t.equal(second.code, 99);
  t.match(JSON.parse(second.out), { passed: false, thresholds: [{ name: "p50", passed: false }] });
  t.match(second.err, /MISSED/, "with --json - the text goes to stderr");
  const written = [
    first.out,
    first.err,
    second.out,
    second.err,
    readFileSync(jsonFile, "utf8"),
    readFileSync(htmlFile, "utf8"),
  ];
  t.notOk(
    written.some((text) => text.includes(key)),
    "the key stands nowhere",
  );
});

t.test("Ctrl-C ends with a report of what was measured; what is in flight has a moment", async (t) => {
  const stub = await startStubGateway(t, async (calls, exchange) => {
    // Every tenth is never answered.
    if ((calls[0]?.id ?? 0) % 10 === 0) return new Promise(() => {});
    return answerAll(calls, exchange);
  });
  const program = startProgram(
    t,
    ["--url", stub.url, "--mix", writeMix(t, mixText), "--rate", "50", "--warmup", "0", "--json", "-"],
    { TOLLGATE_KEY: key },
  );
  await waitFor("30 calls are there", () => stub.bodies.length >= 30);
  program.kill("SIGINT");
  const { code, out, err } = await program.ended;
  t.equal(code, 130);
  const report = JSON.parse(out);
  t.equal(report.endedBy, "SIGINT");
  t.ok(
    report.calls.total >= 27 && report.calls.cutOff >= 3,
    `${report.calls.total}, ${report.calls.cutOff} cut off`,
  );
  t.equal(report.calls.failed, 0);
  t.match(err, /Note: Ended early by SIGINT/);
});

t.test("a second Ctrl-C ends it at once, one passed on by npm at the same moment does not", async (t) => {
  const stub = await startStubGateway(t, () => new Promise(() => {}));
  const program = startProgram(
    t,
    ["--url", stub.url, "--mix", writeMix(t, mixText), "--rate", "50", "--warmup", "0"],
    { TOLLGATE_KEY: key },
  );
  await waitFor("ten calls are there", () => stub.bodies.length >= 10);
  program.kill("SIGINT");
  // What npm passes on comes within half a second and is the same Ctrl-C; a person's second one comes later.
  await new Promise((resolve) => setTimeout(resolve, 50));
  program.kill("SIGINT");
  await new Promise((resolve) => setTimeout(resolve, 700));
  program.kill("SIGINT");
  t.match(await program.ended, { code: 130, out: "" }, "no report: it did not wait for what is in flight");
});

t.test(
  "progress is one line that is written over on a terminal, and a line every five seconds elsewhere",
  async (t) => {
    const wanted = { perSecond: 500 };
    const look = { elapsedMs: 4_020, wanted, arrivalsPerSecond: 498, p50: 1.234, p99: 45.6 };
    const shown = (isTerminal: boolean) => {
      const written: string[] = [];
      const progress = createProgress({ write: (text) => written.push(text), isTerminal });
      for (let second = 1; second <= 10; second += 1) {
        progress.show({ ...look, elapsedMs: second * 1000, failed: 3, inFlight: 2, queued: 1 });
      }
      progress.end();
      return written;
    };
    const line = (second: number) =>
      `${second} s  wanted 500/s  begun 498/s  p50 1.23 ms  p99 45.6 ms  failed 3  in flight 2  waiting 1`;
    t.strictSame(shown(false), [`${line(5)}\n`, `${line(10)}\n`]);
    const overwritten = shown(true);
    t.equal(overwritten.length, 11);
    t.equal(overwritten[0], `\r\x1b[2K${line(1)}`);
    t.equal(overwritten[10], "\r\x1b[2K", "and is gone before the report");
  },
);

t.test("a slope and steps begin as many scripts as they plan, and the warm-up is not counted", async (t) => {
  const stub = await startStubGateway(t);
  const { report } = await loadReport([
    ...["--url", stub.url, "--mix", writeMix(t, mixText), "--ramp", "100..300/1s,50/1s", "--rate", "100"],
    ...["--duration", "1s", "--warmup", "200ms"],
  ]);
  t.equal(report.arrivals.planned, 350);
  t.equal(report.arrivals.begun, 350);
  t.equal(report.requests, 350);
  t.equal(stub.bodies.length, 370, "20 more at its first rate before it");
});

t.test("https goes to a server whose certificate --ca names, and to no other", async (t) => {
  const mix = writeMix(t, mixText);
  const { certFile, keyFile } = await writeCertificate(dirname(mix));
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  const server = createServer(tls, (request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => response.end(result(JSON.parse(body), "0x1")));
  });
  const url = `https://127.0.0.1:${await listen(server)}`;
  t.teardown(() => server.close());
  const common = ["--url", url, "--mix", mix, "--rate", "50", "--duration", "200ms"];
  const { report } = await loadReport([...common, "--ca", certFile]);
  t.match(report.calls, { total: 10, failed: 0 });
  t.match(await load(common), { code: 2, err: /cannot be reached \(DEPTH_ZERO_SELF_SIGNED_CERT/ });
});

t.test("a command line that cannot be used says what was expected, with exit code 2", async (t) => {
  const cases: [string[], RegExp][] = [
    [[], /--rate N is missing/],
    [["--rat", "5"], /There is no option --rat\. Did you mean --rate\?/],
    [["--rate", "0"], /--rate: a number a second, above 0 .* was expected, not "0"/],
    [["--rate", "5", "--duration", "10"], /--duration: a length of time such as 50ms/],
    [["--ramp", "10-500/30s"], /--ramp: stages such as 10\.\.500\/30s/],
    [["--ramp", "10..500/30s", "--duration", "5s"], /--duration needs --rate/],
    [["--rate", "5", "--max-error-rate", "0.1"], /--max-error-rate: a percentage such as 0\.1%/],
    [["--rate", "5", "--url", "ftp://x"], /--url: an address such as/],
    [["--rate", "5", "--arrivals", "even"], /--arrivals: constant or poisson was expected/],
    [["--rate", "5", "--key", "a", "--key-file", "b"], /one is enough/],
    [
      ["--rate", "5", "--mix", "/nowhere/mix.yaml"],
      /cannot be read \(ENOENT\); name another file with --mix FILE/,
    ],
    [["--rate", "5", "--json", "/nowhere/load.json"], /cannot be written: its folder is missing/],
    [["--rate", "5", "--key-file", "/nowhere/key"], /--key-file: .* cannot be read \(ENOENT\)/],
    [["--rate", "5", "--key", "two words"], /is no API key/],
    [["--rate", "5", "--funder-key-file", join(root, "package.json")], /is no private key/],
  ];
  for (const [args, message] of cases)
    t.match(await load(args), { code: 2, out: "", err: message }, args.join(" "));
  t.match(await load(["--rate", "5"], { env: { TOLLGATE_KEY: "" } }), {
    code: 2,
    err: /No API key: name a file/,
  });
  t.match(await startProgram(t, ["--rate"]).ended, { code: 2, out: "", err: /--rate needs a value/ });
  t.match(await startProgram(t, ["--help"]).ended, {
    code: 0,
    out: /Usage: npm run load.*Exit codes/s,
    err: "",
  });
});
