import { randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { CommandError } from "../../../lib/cli/command.ts";
import { processIdentity } from "../../processes/process-identity.ts";

export const lockName = "validators.lock";

const holderSchema = z.object({ pid: z.int().positive(), identity: z.string(), token: z.string() });

/** Two that take over a dead one's lock at once: the one that wrote last has it, and both see that after this long. */
const settledAfterMs = 200;

/**
 * Runs `change` while no other one of this network's validators is under way: two at once could each leave a quorum, and both together none.
 * The lock of a process that has ended holds nobody up.
 * @throws CommandError where another change is under way.
 */
export async function withChangeLock<Result>(folder: string, change: () => Promise<Result>): Promise<Result> {
  const file = join(folder, lockName);
  const token = randomUUID();
  await take({ file, token });
  try {
    return await change();
  } finally {
    if ((await readHolder(file))?.token === token) await rm(file, { force: true });
  }
}

async function take({ file, token }: { file: string; token: string }): Promise<void> {
  const own = { pid: process.pid, identity: (await processIdentity(process.pid)) ?? "", token };
  try {
    await writeFile(file, JSON.stringify(own), { flag: "wx" });
    return;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  await refuseIfHeld(file);
  await writeFile(`${file}.${token}`, JSON.stringify(own));
  await rename(`${file}.${token}`, file);
  await sleep(settledAfterMs);
  if ((await readHolder(file))?.token !== token) await refuseIfHeld(file);
}

async function refuseIfHeld(file: string): Promise<void> {
  const holder = (await readHolder(file)) ?? (await readHolderLater(file));
  if (holder === undefined || (await processIdentity(holder.pid)) !== holder.identity) return;
  throw new CommandError(
    `The validators are being changed already, by process ${holder.pid}: wait until it has ended.`,
    { exitCode: 1 },
  );
}

/** A lock that cannot be read may have been made this moment, and not be written yet. */
async function readHolderLater(file: string) {
  await sleep(settledAfterMs);
  return readHolder(file);
}

async function readHolder(file: string) {
  try {
    return holderSchema.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return undefined;
  }
}
