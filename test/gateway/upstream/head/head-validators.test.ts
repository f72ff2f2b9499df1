import { test } from "tap";
import { startValidators, type Validators } from "../../../fakes/validators/start-validators.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { startTracker, type TrackerUnderTest } from "./start-tracker.ts";

const blockTimeMs = 250;

async function startBoth(t: Parameters<typeof startTracker>[0], options: { webSocket?: boolean } = {}) {
  const validators = await startValidators(t, { blockTimeMs, ...options });
  const tracker = startTracker(t, {
    validators: validators.validators.map(({ url, wsUrl }) => ({ url, wsUrl: wsUrl ?? "none" })),
    blockTimeMs,
    // Who was on another chain for a while is to count again before the test ends.
    limits: { distrustMs: 1000 },
  });
  await waitFor("all five count", () => tracker.eligible() === "01234");
  return { validators, tracker };
}

/** Serving again: a new epoch, and validators to ask. Gives how long it took. */
async function servesAgain(tracker: TrackerUnderTest, epochs: number, sinceMs: number): Promise<number> {
  await waitFor(`epoch ${epochs}`, () => tracker.epochs.length === epochs && tracker.eligible() !== "");
  return performance.now() - sinceMs;
}

/** Every head after the last new epoch is the chain's own block, one after the other. */
function isTrue(tracker: TrackerUnderTest, validators: Validators): boolean {
  const heads = tracker.heads.filter(({ epoch }) => epoch === tracker.epoch().number);
  return heads.every(({ number, hash }, index) => {
    const before = heads[index - 1];
    const isNext = before === undefined || number === before.number + 1n;
    return isNext && validators.block(Number(number))?.hash === hash;
  });
}

test("a chain that is reverted, restarted from an older state or made anew is served again within 3 s", async (t) => {
  const { validators, tracker } = await startBoth(t);
  t.ok(await tracker.waitFor(3n, 3000));

  // No blocks meanwhile: empty ones would come out with the hashes that they had, and nothing would be another chain.
  validators.pause();
  let sinceMs = performance.now();
  await validators.revert(1);
  t.ok((await servesAgain(tracker, 1, sinceMs)) < 3000, "reverted");
  t.equal(tracker.announced()?.number, 1n);

  await validators.saveChain();
  await validators.mine(3);
  t.ok(await tracker.waitFor(4n, 3000));
  const genesisHash = tracker.epoch().genesisHash;
  await validators.killChain();
  await waitFor("all are gone", () => tracker.eligible() === "");
  sinceMs = performance.now();
  await validators.restartChain();
  t.ok((await servesAgain(tracker, 2, sinceMs)) < 3000, "killed before it saved");
  t.equal(tracker.announced()?.number, 1n);
  t.equal(tracker.epoch().genesisHash, genesisHash);

  validators.resume();
  t.ok(await tracker.waitFor(3n, 3000));
  sinceMs = performance.now();
  await validators.reset({ keepConnections: true });
  t.ok((await servesAgain(tracker, 3, sinceMs)) < 3000, "made anew");
  t.ok(isTrue(tracker, validators));
  t.match(tracker.epoch(), { number: 4, genesisHash: validators.block(0)?.hash });
  t.not(tracker.epoch().genesisHash, genesisHash);
  t.equal(tracker.said("a new chain begins").length, 3, "the log says it");
});

test("so is one whose validators have no WebSocket", async (t) => {
  const { validators, tracker } = await startBoth(t, { webSocket: false });
  t.ok(await tracker.waitFor(2n, 3000));
  const sinceMs = performance.now();
  await validators.reset();
  t.ok((await servesAgain(tracker, 1, sinceMs)) < 3000);
  t.ok(isTrue(tracker, validators));
});

test("a restart of all validators at the height that they had is no new epoch", async (t) => {
  const { validators, tracker } = await startBoth(t);
  t.ok(await tracker.waitFor(2n, 3000));
  for (const validator of validators.validators) await validator.die();
  await waitFor("all are gone", () => tracker.eligible() === "");
  t.notOk(await tracker.waitFor((tracker.announced()?.number ?? 0n) + 1n, 700));
  await validators.healAll();
  await waitFor("all are back", () => tracker.eligible() === "01234", { withinMs: 3000 });
  t.same(tracker.epochs, []);
  t.ok(await tracker.waitFor((tracker.announced()?.number ?? 0n) + 2n, 3000));
});

test("through seeded faults of up to three of five the head goes on, true and never back", async (t) => {
  const { validators, tracker } = await startBoth(t);
  const random = seeded(20_261_121);
  const pick = (count: number) => Math.floor(random() * count);
  const endMs = performance.now() + 5000;
  const strikes: string[] = [];
  while (performance.now() < endMs) {
    for (let struck = 0; struck <= pick(3); struck += 1) {
      const validator = validators.validators[pick(5)];
      if (validator === undefined) continue;
      const [name, strike] = faults[pick(faults.length)] ?? ["none", async () => {}];
      strikes.push(`${validator.index} ${name}`);
      await strike(validator, 1 + pick(4));
    }
    const before = tracker.announced()?.number ?? 0n;
    t.ok(await tracker.waitFor(before + 2n, 3000), `it goes on (${strikes.join(", ")})`);
    await validators.healAll();
    strikes.length = 0;
  }
  t.same(tracker.epochs, []);
  t.ok(isTrue(tracker, validators), "each block once, in order");
  await waitFor("all count again", () => tracker.eligible() === "01234", { withinMs: 5000 });
});

type Validator = Validators["validators"][number];
const faults: [string, (validator: Validator, size: number) => void | Promise<void>][] = [
  ["lag", (validator, size) => validator.lag(size)],
  ["freeze", (validator) => validator.freeze()],
  ["delay", (validator, size) => validator.delayImports(size * 200)],
  ["hang", (validator) => validator.hang()],
  ["die", (validator) => validator.die()],
  ["restart", (validator) => validator.die().then(() => validator.comeBack())],
  ["slow", (validator, size) => validator.slow(size * 150)],
  ["garbage", (validator) => validator.garbage()],
  ["cut", (validator) => validator.cutBody("stalled")],
  ["status", (validator) => validator.status(503)],
  ["ids", (validator) => validator.wrongIds()],
  ["foreign", (validator) => validator.foreignChain()],
  ["foreign, our chain id", (validator) => validator.foreignChain({ chainId: 8845 })],
  ["silent WebSocket", (validator) => validator.silentWebSocket()],
  ["no WebSocket", (validator) => validator.refuseWebSockets()],
  ["dropped WebSockets", (validator) => validator.dropWebSockets()],
];

/** mulberry32: the same numbers each time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
