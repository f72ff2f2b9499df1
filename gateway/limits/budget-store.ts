import { keyBudgetKey, limitsProbeKey, teamBudgetKey } from "../../lib/redis/keys/gateway.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { runScript } from "../../lib/redis/run-script.ts";
import { giveBackScript, takeScript } from "./budget-scripts.ts";

/** Whose clock the windows follow: production uses Redis's own; `caller` sends the time, for tests of many windows. */
export type RedisClock = "redis" | "caller";

/** Calls of one cost that follow each other: `count` calls of `cost` points each. */
export type Run = { cost: number; count: number };

/** A window as Redis saw it. Without a running one `id` is empty, and `endsInMs` is the length of a whole one. */
export type Window = { id: string; endsInMs: number; left: number };

export type TakeRequest = {
  keyId: string;
  team: string;
  limit: number;
  /** 0 where the team has no cap. */
  teamCap: number;
  /** Number of the lease, in case one is granted; counts up for each request of this process. */
  lease: number;
  /** Points wanted in advance. */
  wanted: number;
  runs: readonly Run[];
};

export type Taken = {
  key: Window;
  /** `undefined` where the team has no cap. */
  team: Window | undefined;
  leased: number;
  keyShort: boolean;
  teamShort: boolean;
  /** For each run the calls that fitted: its first ones, since within a run all cost the same. */
  fits: number[];
};

export type GiveBackRequest = {
  keyId: string;
  team: string;
  lease: number;
  points: number;
  keyWindow: string;
  teamWindow: string;
};

export type BudgetStore = {
  /** Rejects where Redis did not answer in time or answered with an error; the points may have been taken then. */
  take(request: TakeRequest): Promise<Taken>;
  /** Answers the points that were given back: 0 for another window, another lease, or a second time. */
  giveBack(request: GiveBackRequest): Promise<number>;
  /** Takes a point from a budget that belongs to no key, to see whether the team's Redis runs the script again, and may write. */
  probe(team: string): Promise<void>;
};

/** The Redis side of budgets: sends the scripts, reads their answers. One round trip for each call. */
export function createBudgetStore({
  redis,
  processId,
  windowMs,
  redisClock,
  now,
}: {
  redis: RedisClient;
  /** Name of this process among all that share the Redis. */
  processId: string;
  windowMs: number;
  redisClock: RedisClock;
  now: () => number;
}): BudgetStore {
  const time = () => (redisClock === "caller" ? Math.floor(now()) : "");

  return {
    async take({ keyId, team, limit, teamCap, lease, wanted, runs }) {
      const pairs = runs.flatMap(({ cost, count }) => [cost, count]);
      const answer = await runScript({
        redis,
        script: takeScript,
        keys: keysOf({ keyId, team, isCapped: teamCap > 0 }),
        args: [time(), windowMs, limit, teamCap, processId, lease, wanted, ...pairs],
      });
      return readTaken(answer, runs.length);
    },
    async giveBack({ keyId, team, lease, points, keyWindow, teamWindow }) {
      const answer = await runScript({
        redis,
        script: giveBackScript,
        keys: keysOf({ keyId, team, isCapped: teamWindow !== "" }),
        args: [time(), windowMs, processId, lease, points, keyWindow, teamWindow],
      });
      return readNumber(answer);
    },
    async probe(team) {
      await runScript({
        redis,
        script: takeScript,
        keys: [limitsProbeKey(team)],
        args: [time(), windowMs, 1e9, 0, processId, 0, 0, 1, 1],
      });
    },
  };
}

/**
 * A cap that is not there is not named: while a slot moves between nodes, a script that names a key which is on neither of them
 * is refused until the move is over.
 */
function keysOf({ keyId, team, isCapped }: { keyId: string; team: string; isCapped: boolean }): string[] {
  const key = keyBudgetKey({ team, keyId });
  return isCapped ? [key, teamBudgetKey(team)] : [key];
}

function readTaken(answer: unknown, runs: number): Taken {
  if (!Array.isArray(answer) || answer.length !== 8 + runs) throw unexpected(answer);
  const [keyWindow, keyEnds, keyLeft, teamWindow, teamEnds, teamLeft, leased, short, ...fits] = answer;
  const refusedBy = readNumber(short);
  return {
    key: readWindow(keyWindow, keyEnds, keyLeft),
    team: teamLeft === -1 ? undefined : readWindow(teamWindow, teamEnds, teamLeft),
    leased: readNumber(leased),
    keyShort: (refusedBy & 1) !== 0,
    teamShort: (refusedBy & 2) !== 0,
    fits: fits.map(readNumber),
  };
}

function readWindow(id: unknown, endsInMs: unknown, left: unknown): Window {
  if (typeof id !== "string") throw unexpected(id);
  return { id, endsInMs: readNumber(endsInMs), left: readNumber(left) };
}

function readNumber(value: unknown): number {
  if (typeof value !== "number") throw unexpected(value);
  return value;
}

function unexpected(answer: unknown): Error {
  return new Error(`a limit script answered ${JSON.stringify(answer)}`);
}
