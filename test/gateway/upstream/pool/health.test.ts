import t from "tap";
import { createHealth } from "../../../../gateway/upstream/pool/health.ts";
import { poolSettingsSchema } from "../../../../gateway/upstream/pool/pool-settings.ts";

const settings = poolSettingsSchema.parse({}).health;

function start({ isLast = () => false }: { isLast?: () => boolean } = {}) {
  const events: string[] = [];
  const health = createHealth({
    settings,
    mayEject: () => !isLast(),
    onEjected: (reason) => events.push(`out: ${reason}`),
    onReadmitted: () => events.push("back"),
  });
  return { health, events };
}

t.test("who refuses connections is out at once, who answers badly after some in a row", (t) => {
  const refusing = start();
  refusing.health.failed("connect", 0);
  t.equal(refusing.health.state(), "open");
  t.strictSame(refusing.health.lastEjection(), { reason: "connect", atMs: 0 });

  const { health, events } = start();
  for (let round = 0; round < 10; round += 1) {
    health.failed("bad_answer", round);
    health.failed("status", round);
    health.succeeded(round);
  }
  t.equal(health.state(), "closed", "good answers in between count");
  for (let round = 0; round < 3; round += 1) health.failed("status", 20);
  t.equal(health.state(), "open");
  t.strictSame(events, ["out: status"]);
  t.end();
});

t.test("who is silent is pinged at once, and out only if the ping is not answered either", (t) => {
  const { health, events } = start();
  health.isSilent(1000);
  t.equal(health.isSuspect(), true);
  t.equal(health.needsPing(1000), true);
  health.pinged(undefined, 1010);
  t.strictSame([health.isSuspect(), health.state()], [false, "closed"]);
  health.isSilent(2000);
  health.pinged("hung", 2500);
  t.strictSame([health.isSuspect(), health.state()], [false, "open"]);
  t.strictSame(events, ["out: hung"]);
  t.end();
});

t.test("who is out is pinged after a pause that grows to its limit; an answer makes it half-open", (t) => {
  const { health, events } = start();
  health.failed("connect", 0);
  const pings: number[] = [];
  for (let nowMs = 0; nowMs < 10_000; nowMs += 50) {
    if (!health.needsPing(nowMs)) continue;
    pings.push(nowMs);
    health.pinged("connect", nowMs);
  }
  t.strictSame(pings.slice(0, 4), [500, 1500, 3500, 5500], "never longer than two seconds");
  health.pinged(undefined, 10_000);
  t.equal(health.state(), "half-open");
  health.failed("closed", 10_010);
  t.equal(health.state(), "open", "half-open, one failure is enough");
  health.pinged(undefined, 12_500);
  health.succeeded(12_510);
  t.equal(health.state(), "closed");
  t.strictSame(events, ["out: connect", "out: closed", "back"]);
  t.end();
});

t.test("a trial without any call ends well too, and long after it the pauses are short again", (t) => {
  const { health } = start();
  health.failed("connect", 0);
  health.pinged("connect", 500);
  health.pinged("connect", 1500);
  health.pinged(undefined, 3500);
  health.tick(5000);
  t.equal(health.state(), "half-open");
  health.tick(5500);
  t.equal(health.state(), "closed");
  health.failed("connect", 30_000);
  t.equal(health.needsPing(30_499), false);
  t.equal(health.needsPing(30_500), true);
  t.end();
});

t.test("the last one is never ejected; it is a suspect, and out as soon as another is there", (t) => {
  let last = true;
  const { health, events } = start({ isLast: () => last });
  health.failed("connect", 0);
  t.strictSame([health.state(), health.isSuspect()], ["closed", true]);
  t.equal(health.needsPing(499), false);
  t.equal(health.needsPing(500), true);
  health.pinged("connect", 500);
  t.equal(health.state(), "closed");
  last = false;
  health.pinged("connect", 1000);
  t.equal(health.state(), "open");
  t.strictSame(events, ["out: connect"]);
  t.end();
});
