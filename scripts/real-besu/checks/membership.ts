import { z } from "zod";
import type { Verdict } from "../check.ts";
import type { Rig } from "../rig.ts";

const [name, next] = ["validator-6", "validator-7"];
const wholeSet = 6;

/** Five become six, another takes the sixth one's place, and they are five again, with a chain that goes on. */
export async function membership(rig: Rig): Promise<Verdict> {
  const added = await rig.command("validator", "add", name);
  if (added.code !== 0) return { ok: false, seen: added.text.trim() };
  const from = await rig.height();
  const replaced = await rig.command("validator", "replace", name, next, "--delete-data");
  if (replaced.code !== 0) return { ok: false, seen: replaced.text.trim() };
  const smallest = await smallestSet(rig, from);
  const removed = await rig.command("validator", "remove", next, "--delete-data");
  if (removed.code !== 0) return { ok: false, seen: removed.text.trim() };
  const seconds = await rig.statusIs(0);
  const first = /block (\d+) is its first/.exec(added.text)?.[1] ?? "?";
  const left = /Block (\d+) is made by 5/.exec(removed.text)?.[1] ?? "?";
  return {
    ok: smallest === wholeSet,
    seen:
      `the first block of ${name} was ${first}; while ${next} took its place there were never fewer than ${smallest} validators; ` +
      `${next} left with ${left}; all is well ${seconds} s later`,
  };
}

/** Of all blocks since this one, by their own headers. */
async function smallestSet(rig: Rig, from: number): Promise<number> {
  const to = await rig.height();
  let smallest = Number.POSITIVE_INFINITY;
  for (let block = from; block <= to; block += 1)
    smallest = Math.min(smallest, await membersAt(rig, `0x${block.toString(16)}`));
  return smallest;
}

async function membersAt(rig: Rig, block: string): Promise<number> {
  const family = rig.manifest.consensus === "ibft2" ? "ibft" : "qbft";
  const answer = await rig.node(0, `${family}_getValidatorsByBlockNumber`, [block]);
  return z.array(z.string()).parse(answer?.result).length;
}
