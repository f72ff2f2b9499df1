import { setTimeout as sleep } from "node:timers/promises";
import type { Validators } from "../../../test/fakes/validators/start-validators.ts";
import type { Step } from "./draw-steps.ts";
import { strike } from "./faults.ts";

/** An actor takes turns: one turn is what it does between two `yield`s. */
export type Actor = AsyncGenerator<void, void, void>;

/**
 * Plays the steps in order. A turn starts without waiting for the last one, so that faults and blocks meet calls in
 * flight; but an actor's next turn waits for its own last one.
 * @returns the faults and restarts, in order.
 */
export async function runSteps({
  steps,
  paceMs,
  actors,
  cluster,
  restart = async () => {},
}: {
  steps: readonly Step[];
  /** How long a step takes at least: gateways notice some faults by the clock. */
  paceMs: number;
  actors: Readonly<Record<string, Actor>>;
  cluster: Validators;
  restart?: () => Promise<void>;
}): Promise<string[]> {
  const underWay = new Map<string, Promise<unknown>>();
  const faults: string[] = [];

  async function beginTurn(name: string): Promise<void> {
    const actor = actors[name];
    if (actor === undefined) throw new Error(`nobody is called ${name}`);
    await underWay.get(name);
    const turn = actor.next();
    // Whoever awaits the turn sees its failure, but it may fail before anybody does.
    turn.catch(() => {});
    underWay.set(name, turn);
  }

  for (const step of steps) {
    switch (step.act) {
      case "turn":
        await Promise.all([beginTurn(step.actor), sleep(paceMs)]);
        break;
      case "block":
        await cluster.mine(1);
        break;
      case "restart":
        faults.push("restart");
        await restart();
        break;
      case "strike":
        faults.push(`${step.fault} ${step.validator}`);
        await strike(cluster.validator(step.validator), step.fault);
        break;
      case "heal":
        await cluster.validator(step.validator).heal();
        break;
    }
  }
  await Promise.all(underWay.values());
  for (const actor of Object.values(actors)) await actor.return();
  return faults;
}
