import { pino } from "pino";
import t from "tap";
import { ConfigError } from "../../../lib/config/read-config.ts";
import { createReloader, type Prepared } from "../../../lib/reload/reloader.ts";
import { waitFor } from "../../helpers/wait-for.ts";

type Settings = { size: number; port: number; secret: string };

const first: Settings = { size: 1, port: 80, secret: "secret-of-the-test" };

function setUp({ prepare }: { prepare?: (next: Settings) => Prepared } = {}) {
  let file: Settings | Error | readonly string[] = first;
  let nowMs = 0;
  let current = first;
  let reads = 0;
  const lines: string[] = [];
  const reloader = createReloader<Settings, Settings>({
    running: first,
    readAgain() {
      reads += 1;
      if (file instanceof Error) throw file;
      return "size" in file ? { config: file } : { problems: file };
    },
    load: (config) => config,
    comparable: (settings) => settings,
    live: ["size"],
    prepare:
      prepare ??
      ((next) => ({
        commit() {
          current = next;
        },
      })),
    logger: pino({ level: "debug" }, { write: (line: string) => void lines.push(line) }),
    now: () => 1_800_000_000_000 + nowMs,
    monotonicMs: () => nowMs,
  });
  return {
    reloader,
    lines,
    reads: () => reads,
    current: () => current,
    write(next: Settings | Error | readonly string[]): void {
      file = next;
    },
    reload(dryRun = false) {
      nowMs += 1000;
      return reloader.reload({ dryRun });
    },
    later(ms: number): void {
      nowMs += ms;
    },
  };
}

t.test("takes what may change, and refuses the whole file for one value that may not", async (t) => {
  const { reload, write, current, reloader, lines } = setUp();
  write({ ...first, size: 2 });
  t.same(reload(true), { outcome: "checked", changes: [{ path: "size", from: 1, to: 2 }] });
  t.equal(current().size, 1);
  t.same(reload(), { outcome: "changed", changes: [{ path: "size", from: 1, to: 2 }] });
  t.equal(current().size, 2);
  write({ size: 3, port: 81, secret: "another-secret" });
  t.same(reload(), {
    outcome: "refused",
    problems: ["port cannot change without a restart", "secret cannot change without a restart"],
  });
  t.equal(current().size, 2);
  write({ ...first, size: 2 });
  t.same(reload(), { outcome: "same", changes: [] });
  t.match(reloader.status(), { lastReload: { outcome: "same", problems: [] }, hash: /^[0-9a-f]{16}$/ });
  t.notMatch(lines.join("") + JSON.stringify(reloader.status()), /secret-of-the-test|another-secret/);
});

t.test("whatever goes wrong leaves the old values, and is told", async (t) => {
  const { reload, write, current, lines } = setUp();
  write(["gateway.yaml:1: wrong"]);
  t.same(reload(), { outcome: "refused", problems: ["gateway.yaml:1: wrong"] });
  write(new ConfigError(["methods.yaml:1: wrong"]));
  t.same(reload(), { outcome: "refused", problems: ["methods.yaml:1: wrong"] });
  write(new Error("a fault of ours with /etc/path in it"));
  t.same(reload(), { outcome: "refused", problems: ["it failed unexpectedly: see the log"] });
  t.match(lines.join(""), "a fault of ours");
  t.equal(current(), first);

  const late = setUp({ prepare: () => ({ problems: ["no room"] }) });
  late.write({ ...first, size: 2 });
  t.same(late.reload(), { outcome: "refused", problems: ["no room"] });
  t.same(late.reload(true), { outcome: "refused", problems: ["no room"] }, "a dry run checks that, too");
});

t.test("reads once a second at most", async (t) => {
  const { reloader, reads, later } = setUp();
  t.equal(reloader.reload().outcome, "same");
  t.same(reloader.reload(), { outcome: "too_soon", retryAfterMs: 1000 });
  later(999);
  t.same(reloader.reload({ dryRun: true }), { outcome: "too_soon", retryAfterMs: 1 });
  t.equal(reads(), 1);
  later(1);
  t.equal(reloader.reload().outcome, "same");
});

t.test("asked many times while it may not yet, it does it once when it may", async (t) => {
  const { reloader, reads, later } = setUp();
  t.equal(reloader.reload().outcome, "same");
  later(990);
  for (let index = 0; index < 100; index += 1) reloader.reloadSoon();
  t.equal(reads(), 1);
  later(10);
  await waitFor("it has read again", () => reads() === 2);
  later(5000);
  reloader.reloadSoon();
  reloader.stop();
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.equal(reads(), 2, "nothing after the end");
});

t.test("a timer that fires before its time loses nothing", async (t) => {
  const { reloader, reads, later } = setUp();
  t.equal(reloader.reload().outcome, "same");
  later(999);
  reloader.reloadSoon();
  // The clock stands still while the timer's millisecond passes.
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(reads(), 1);
  later(1);
  await waitFor("it has read again", () => reads() === 2);
});

t.test("what asks after the end is not heard", async (t) => {
  const { reloader, reads } = setUp();
  reloader.stop();
  reloader.reloadSoon();
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(reads(), 0);
});
