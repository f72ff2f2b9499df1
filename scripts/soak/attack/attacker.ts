import { parentPort, workerData } from "node:worker_threads";
import { seededRandom } from "../seeded-random.ts";
import type { Attack, AttackTask } from "./attack.ts";
import { attacks } from "./attacks.ts";

/** The attacker's thread: it attacks until its time is over and then reports that it has ended. */
const task: AttackTask = workerData;
/** The time counts from the first call: what an attack prepares before it hurts nobody. */
let endsAtMs: number | undefined;
const leftMs = () => {
  endsAtMs ??= performance.now() + task.durationMs;
  return Math.max(0, endsAtMs - performance.now());
};
const counts = new Map<string, number>();
const attack: Attack | undefined = attacks[task.name];
if (attack === undefined) throw new Error(`there is no attack ${task.name}`);
await attack({
  ...task,
  random: seededRandom(task.seed),
  isOver: () => leftMs() === 0,
  leftMs,
  count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
});
parentPort?.postMessage(Object.fromEntries(counts));
// Sockets that an attack leaves open end with the thread.
process.exit();
