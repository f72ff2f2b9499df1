import { rm } from "node:fs/promises";
import { join } from "node:path";
import { validatorsForOneFault } from "../../../genesis/config.ts";
import { withoutValidator } from "../../../genesis/members.ts";
import { nativeFolder } from "../../../genesis/write-network.ts";
import { CommandError } from "../../../lib/cli/command.ts";
import { quorumOf } from "../../../lib/ibft/quorum.ts";
import type { NetworkStatus, ValidatorStatus } from "../chain/network-status.ts";
import type { CommandInput } from "../command.ts";
import { currentStatus } from "../show-status.ts";
import { changeSet, type NotChanged, notPassed, openPost, tellQuorum, whyStalled } from "./change.ts";
import { writeMembership } from "./write-files.ts";

export type Removed = { name: string; members: number; changed: boolean; passedAt?: number };

/**
 * The votes, then the end of its node, which keeps its key and its chain unless `deleteData`. As with `add` each step looks at what is there.
 */
export async function removeValidator(
  input: CommandInput,
  name: string,
  { deleteData }: { deleteData: boolean },
): Promise<Removed | NotChanged> {
  const { note } = input;
  const status = await currentStatus(input);
  const row = findRow(input, status, name);
  let { members } = status;
  let passedAt: number | undefined;
  if (row?.inSet === true) {
    const refused = whyStalled(input, status) ?? whyNeeded(input, status, row);
    if (refused !== undefined) return refused;
    tellQuorum(note, members, members - 1);
    const voted = await changeSet(input, {
      ...{ nodes: input.nodes, manifest: input.manifest },
      ...{ recipient: row.address, name, add: false },
    });
    if ("failed" in voted) return notPassed(voted, name);
    ({ passedAt } = voted);
    members -= 1;
    // Whoever made this block is one of those that are left: the chain goes on without it.
    note(`Block ${passedAt} is made by ${members} validators, without ${name}.`);
  } else if (row !== undefined) await (await openPost(input, input)).discard(input.nodes.list, row.address);
  const retired = await retire(input, name, { deleteData });
  const changed = passedAt !== undefined || retired;
  return { name, members, changed, ...(passedAt === undefined ? {} : { passedAt }) };
}

/** What `remove` does, without doing it. */
export function removalPlan(name: string, { deleteData }: { deleteData: boolean }): string[] {
  return [
    `All validators that can be asked vote against ${name}, until more than half have, and forget the vote then.`,
    `${name} is stopped and stands among the former validators in network.json.`,
    deleteData ? `Its chain and its key are removed.` : `Its chain and its key stay.`,
  ];
}

/** The row of a validator or node; undefined for a former one. Throws a CommandError for a name that nobody has. */
export function findRow(
  { manifest }: Pick<CommandInput, "manifest">,
  { validators }: NetworkStatus,
  name: string,
): ValidatorStatus | undefined {
  const row = validators.find((validator) => validator.name === name);
  if (row !== undefined) return row;
  if (manifest.formerValidators?.some((node) => node.name === name)) return undefined;
  const names = validators.map((validator) => validator.name).join(", ");
  throw new CommandError(`There is no ${name}: ${names} were expected.`, { exitCode: 2 });
}

/** Why the chain needs this validator; undefined where it does not. */
export function whyNeeded(
  { config }: Pick<CommandInput, "config">,
  { members, present }: Pick<NetworkStatus, "members" | "present">,
  { name, takesPart }: Pick<ValidatorStatus, "name" | "takesPart">,
): NotChanged | undefined {
  const left = members - 1;
  if (left === 0) return { failed: `${name} is the only validator.`, code: 1 };
  if (config.profile === "production" && left < validatorsForOneFault) {
    const failed = `Without ${name} ${left} validators would be left. The production profile has ${validatorsForOneFault} at least: fewer can afford no fault. Nothing is changed.`;
    return { failed, code: 1 };
  }
  const quorum = quorumOf(left);
  const presentLeft = present - (takesPart ? 1 : 0);
  if (presentLeft >= quorum) return undefined;
  return {
    failed: `Without ${name} ${left} validators would be left, and ${quorum} have to seal a block. ${presentLeft} of them take part now: the chain would stand still. Nothing is changed; bring the others back first.`,
    code: 1,
  };
}

/** Ends a node of ours that validates no longer. @returns whether anything had to be done. */
async function retire(
  { nodes, manifest, folder, note }: CommandInput,
  name: string,
  { deleteData }: { deleteData: boolean },
): Promise<boolean> {
  const isNode = manifest.validators.some((node) => node.name === name);
  const isFormer = manifest.formerValidators?.some((node) => node.name === name) === true;
  // A validator that is none of our nodes is stopped by whoever runs it.
  if (!isNode && !isFormer) return false;
  if (isNode) {
    await nodes.stop(name);
    const own = await writeMembership({
      folder,
      before: manifest,
      after: withoutValidator({ manifest, name }),
    });
    for (const line of own) note(`compose.env has a line of your own: put ${line} there.`);
    note(`${name} is stopped.`);
  }
  if (!deleteData) return isNode;
  await nodes.wipe(name);
  await rm(join(folder, nativeFolder, name), { recursive: true, force: true });
  await rm(join(folder, name), { recursive: true, force: true });
  note(`The chain and the key of ${name} are removed.`);
  return true;
}
