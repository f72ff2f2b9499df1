import { readFileSync } from "node:fs";
import t from "tap";
import { z } from "zod";
import { type BlockHeader, readBlockHeader } from "../../../lib/ibft/block-header.ts";
import { networkStatus, stallLimitSeconds } from "../../../scripts/network/chain/network-status.ts";
import type { NodeView } from "../../../scripts/network/chain/observe.ts";
import { createLiveProgress, createPlainProgress } from "../../../scripts/network/output/progress-view.ts";
import { statusText } from "../../../scripts/network/output/status-text.ts";

const vector = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../vectors/${name}`, import.meta.url), "utf8"));
const blocks = z.array(z.looseObject({ hash: z.string() })).parse(vector("besu-blocks.json"));
const addresses = z.array(z.string()).parse(vector("besu-validators.json"));
const headers = blocks.map(mustRead);
const headerOf = (number: number) => headers.find((header) => header.number === number);

function mustRead(json: unknown): BlockHeader {
  const read = readBlockHeader(json);
  if ("problem" in read) throw new Error(read.problem);
  return read.header;
}

const windowBlocks = 12;

/** One that cannot be asked. */
type Away = { away: NodeView["state"] };

/** Five validators that all have the recorded blocks that end with `last`, but for what is changed by index. */
function views(last: number, changes: Readonly<Record<number, Partial<NodeView> | Away>> = {}): NodeView[] {
  return addresses.map((address, index) => {
    const who = { name: `validator-${index + 1}`, address, rpcUrl: "" };
    const change = changes[index];
    if (change !== undefined && "away" in change) return { ...who, state: change.away, headers: [] };
    const seen = headers.filter(({ number }) => number <= last && number > last - windowBlocks);
    return { ...who, state: "up", height: last, peers: 4, headers: seen, ...change };
  });
}

function statusAt(last: number, changes?: Parameters<typeof views>[1], ageSeconds = 2) {
  const nowMs = ((headerOf(last)?.timestampSeconds ?? 0) + ageSeconds) * 1000;
  return networkStatus({ views: views(last, changes), nowMs, stalledAfterSeconds: 10 });
}

t.test("the recorded chain is fine before one goes down", async (t) => {
  const status = statusAt(1456);
  t.match(status, {
    verdict: "fine",
    reasons: [],
    height: 1456,
    ageSeconds: 2,
    quorum: 4,
    present: 5,
    blocks: windowBlocks,
  });
  t.equal(status.roundsAboveZero, 0);
  t.equal(
    status.validators.reduce((sum, { proposed }) => sum + proposed, 0),
    windowBlocks,
  );
});

t.test("the one that is down is found in the blocks: its turns, and its seals", async (t) => {
  const { validators, roundsAboveZero } = statusAt(1468);
  t.equal(roundsAboveZero, 3);
  t.same(
    validators.map(({ missedTurns }) => missedTurns),
    [0, 0, 3, 0, 0],
    "0x558a… is the third",
  );
  t.equal(validators[2]?.missedSeals, windowBlocks);
});

t.test(
  "the set is the newest header's: who is none of our nodes is shown, who is no validator does not count",
  async (t) => {
    const nodes = views(1456);
    const without = nodes.filter(({ name }) => name !== "validator-2");
    const stranger = { name: "validator-6", address: `0x${"ab".repeat(20)}`, rpcUrl: "" };
    const seen = nodes[0]?.headers ?? [];
    const all: NodeView[] = [...without, { ...stranger, state: "up", height: 1400, peers: 1, headers: seen }];
    const status = networkStatus({
      views: all,
      nowMs: (headerOf(1456)?.timestampSeconds ?? 0) * 1000,
      stalledAfterSeconds: 10,
    });
    t.match(status, { verdict: "fine", members: 5, quorum: 4, present: 5, reasons: [] });
    t.match(status.validators.at(-2), {
      name: "validator-6",
      inSet: false,
      takesPart: false,
      missedSeals: 0,
      missedTurns: 0,
    });
    t.match(status.validators.at(-1), {
      name: addresses[1],
      state: "not ours",
      inSet: true,
      takesPart: true,
      height: null,
    });
    t.ok((status.validators.at(-1)?.proposed ?? 0) > 0, "its blocks are on the chain");
    t.match(statusText(status), /5 of 5 validators take part.*validator-6 +up, no validator.*not ours/s);
    // One that takes no part any more is known by the chain alone.
    const later = views(1467).filter(({ name }) => name !== "validator-3");
    const gone = networkStatus({
      views: later,
      nowMs: (headerOf(1467)?.timestampSeconds ?? 0) * 1000,
      stalledAfterSeconds: 10,
    });
    t.match(gone, {
      verdict: "edge of quorum",
      members: 5,
      present: 4,
      reasons: [/one more down/, /^0x558a.*has neither proposed nor sealed/],
    });
  },
);

t.test("one that answers but has taken no part for two turns of each is absent", async (t) => {
  t.match(statusAt(1467), {
    verdict: "edge of quorum",
    present: 4,
    reasons: [/one more down/, "validator-3 has neither proposed nor sealed any of the last 10 blocks"],
  });
});

t.test("one stopped, silent, of another network or far behind is at the edge of quorum", async (t) => {
  const cases: [Partial<NodeView> | Away, RegExp][] = [
    [{ away: "stopped" }, /validator-1 is stopped/],
    [{ away: "silent" }, /validator-1 does not answer/],
    [{ away: "other network" }, /another network/],
    [{ height: 1450 }, /validator-1 is 6 blocks behind/],
  ];
  for (const [change, words] of cases) {
    t.match(statusAt(1456, { 0: change }), {
      verdict: "edge of quorum",
      present: 4,
      reasons: [/4 of 5/, words],
    });
  }
  t.match(statusAt(1456, { 0: { height: 1454 } }), { verdict: "fine" }, "two blocks are nothing");
});

t.test("two away, or a head that is too old, is stalled", async (t) => {
  t.match(statusAt(1456, { 0: { away: "stopped" }, 1: { away: "stopped" } }), {
    verdict: "stalled",
    present: 3,
    reasons: [/3 of 5 validators take part, 4 are needed/, /validator-1/, /validator-2/],
  });
  t.match(statusAt(1456, {}, 10), { verdict: "fine" });
  t.match(statusAt(1456, {}, 11), { verdict: "stalled", reasons: ["the newest block is 11 s old"] });
});

t.test("a chain of slow blocks is not stalled between two of them", async (t) => {
  const limit = (blockSeconds: number, requestTimeoutSeconds: number) =>
    stallLimitSeconds({ stalledAfterSeconds: 10, blockSeconds, requestTimeoutSeconds });
  t.equal(limit(2, 4), 10, "as configured");
  t.equal(limit(15, 30), 60, "two blocks, and a turn that is missed");
});

t.test("before the first block a network is stalled", async (t) => {
  const all = views(0).map((view) => ({ ...view, headers: [] }));
  const status = networkStatus({ views: all, nowMs: 0, stalledAfterSeconds: 10 });
  t.match(status, {
    verdict: "stalled",
    height: 0,
    ageSeconds: null,
    blocks: 0,
    reasons: ["there is no block yet"],
  });
  t.match(statusText(status), /No blocks to count in/);
});

t.test("who sealed is the union over all validators", async (t) => {
  const five = z.array(z.record(z.string(), z.string())).parse(vector("besu-extra-data-of-five.json"));
  const seals = (count: number) => {
    const changes = Object.fromEntries(
      addresses.map((_address, index) => [
        index,
        {
          headers: five.map(({ hash, ...extraData }) => {
            const block = blocks.find((candidate) => candidate.hash === hash);
            return mustRead({ ...block, extraData: extraData[`validator-${(index % count) + 1}`] });
          }),
        },
      ]),
    );
    return statusAt(1476, changes).validators.map(({ missedSeals }) => missedSeals);
  };
  const [one, all] = [seals(1), seals(5)];
  for (const [index, missed] of all.entries()) t.ok(missed <= (one[index] ?? 0));
});

t.test("a status for people has the verdict first and a line a validator", async (t) => {
  const text = statusText(statusAt(1468, { 2: { away: "stopped" } }));
  t.match(text, /^AT THE EDGE OF QUORUM: block 1468, 2 s old; 4 of 5 validators take part, 4 are needed\./);
  t.match(text, /validator-3 +stopped +- +- +\d+ +3 +\d+ +-/);
  t.match(text, /Counted in the last 12 blocks; rounds above 0, after a missed turn: 3\.$/);
});

t.test("progress is drawn in its place on a terminal, and a line a change elsewhere", async (t) => {
  const steps = [
    [{ name: "validator-1", state: "starting" as const }],
    [{ name: "validator-1", state: "starting" as const }],
    [{ name: "validator-1", state: "answers" as const, height: 3, peers: 4 }],
  ];
  let live = "";
  const liveView = createLiveProgress({
    write: (text) => {
      live += text;
    },
    now: () => 0,
  });
  for (const step of steps) liveView.show(step);
  t.equal(live.split("\x1b[2F\x1b[J").length, 3, "two lines up, cleared, drawn again");
  t.ok(live.endsWith("  validator-1 answers, block 3, 4 peers\n"));
  let plain = "";
  const plainView = createPlainProgress({
    write: (text) => {
      plain += text;
    },
  });
  for (const step of steps) plainView.show(step);
  t.equal(plain, "validator-1 is starting\nvalidator-1 answers\n");
});
