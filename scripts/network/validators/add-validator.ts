import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { withValidator } from "../../../genesis/members.ts";
import { nodeFiles } from "../../../genesis/network-files.ts";
import { createNodeKey, type NodeKey } from "../../../genesis/node-key.ts";
import { quorumOf } from "../../../lib/ibft/quorum.ts";
import { bringUp } from "../bring-up.ts";
import { followBlocks } from "../chain/follow-blocks.ts";
import type { NetworkStatus } from "../chain/network-status.ts";
import { syncOf } from "../chain/wait-for-nodes.ts";
import type { CommandInput } from "../command.ts";
import { commandLike } from "../command-like.ts";
import { currentStatus } from "../show-status.ts";
import {
  changeSet,
  type NotChanged,
  notPassed,
  openPost,
  stalledAfterMs,
  tellQuorum,
  whyStalled,
} from "./change.ts";
import { exists, writeFiles, writeMembership } from "./write-files.ts";

export type Added = {
  name: string;
  address: string;
  members: number;
  /** False where it was a validator already. */
  changed: boolean;
  /** The first block that it proposed. */
  firstProposed?: number;
};

/** A long chain is fetched for as long as that; run again, it goes on where it was. */
const syncWithinMs = 60 * 60 * 1000;
/** Turns of all validators until the new one has to have had its own. */
const turnsMax = 3;

/**
 * A key, a running node that has all blocks, the votes, its first block. Each step looks at what is there already, so that a run that ended
 * anywhere is gone on with by running it again.
 */
export async function addValidator(input: CommandInput, name: string): Promise<Added | NotChanged> {
  const status = await currentStatus(input);
  const stalled = whyStalled(input, status);
  if (stalled !== undefined) return stalled;
  const { members } = status;
  const row = status.validators.find((validator) => validator.name === name);
  if (row?.inSet === true) return alreadyIn(input, { name, address: row.address, members });
  const unsafe = whyUnsafe(status, name);
  if (unsafe !== undefined) return unsafe;
  tellQuorum(input.note, members, members + 1);

  const made = await makeNode(input, name);
  if ("failed" in made) return made;
  const { nodes, manifest } = await input.reopen();
  const started = await bringUp({
    nodes,
    names: [name],
    signal: input.signal,
    progress: input.progress,
    goal: syncOf(name),
    withinMs: syncWithinMs,
    runAlready: await nodes.isRunning(name),
  });
  if ("failed" in started) {
    const failed = `${name} does not follow the chain: ${started.failed}\nThe validators are as they were.${allowlistHint(input)}`;
    return { failed, code: started.interrupted ? 130 : 1 };
  }
  input.note(`${name} has all blocks, up to ${started.height}.`);

  const { address } = made;
  const voted = await changeSet(input, { nodes, manifest, recipient: address, name, add: true });
  if ("failed" in voted) return notPassed(voted, name);
  input.note(`Block ${voted.passedAt} has ${name} among ${members + 1} validators.`);
  const first = await followBlocks({
    nodes: nodes.list,
    from: voted.passedAt,
    blocksMax: turnsMax * (members + 1),
    stalledAfterMs: stalledAfterMs({ manifest, config: input.config }),
    signal: input.signal,
    look: (header) => (header.miner === address ? header.number : undefined),
  });
  if ("found" in first)
    return { name, address, members: members + 1, changed: true, firstProposed: first.found };
  return {
    failed: `${name} is a validator now, but has not proposed up to block ${first.number}. Its log: npm run network -- ${commandLike(input, `logs ${name}`)}`,
    code: first.ended === "interrupted" ? 130 : 1,
  };
}

/** What `add` does, without doing it. */
export function additionPlan(input: Pick<CommandInput, "manifest">, name: string): string[] {
  const place = withValidator({ manifest: input.manifest, name, key: { address: "", nodeId: "" } });
  const at = "refused" in place ? "" : ` at ${place.place.host}`;
  return [
    `A key for ${name} is made where it has none, a configuration, and its place in network.json${at}.`,
    `${name} is started and fetches the chain.`,
    `All validators that can be asked vote for ${name}, until more than half have, and forget the vote then.`,
    `${name} proposes its first block.`,
  ];
}

/** Why another validator would leave the chain without a quorum; undefined where it does not. */
export function whyUnsafe({ present, members }: NetworkStatus, name: string): NotChanged | undefined {
  const quorum = quorumOf(members + 1);
  if (present + 1 >= quorum) return undefined;
  return {
    failed:
      `With ${name} there would be ${members + 1} validators, and ${quorum} have to seal a block. ${present} take part now, and one more are ` +
      `${present + 1}: the chain would stand still. Nothing is changed; bring the others back first.`,
    code: 1,
  };
}

/** A run that ended between the vote and its end may have left votes behind. */
async function alreadyIn(
  input: CommandInput,
  { name, address, members }: { name: string; address: string; members: number },
): Promise<Added | NotChanged> {
  const post = await openPost(input, input);
  await post.discard(input.nodes.list, address);
  return { name, address, members, changed: false };
}

/** Key, configuration, and its place among the nodes: what is there already stays as it is. */
async function makeNode(input: CommandInput, name: string): Promise<{ address: string } | NotChanged> {
  const { folder, config, manifest, note } = input;
  const key = await keyOf(folder, name);
  if ("failed" in key) return key;
  const listed = manifest.validators.find((node) => node.name === name);
  if (listed !== undefined) {
    if (listed.address === key.address) return key;
    const failed = `${join(folder, name, "key")} is not the key of ${name}, whose address is ${listed.address}.`;
    return { failed, code: 1 };
  }
  const added = withValidator({ manifest, name, key });
  if ("refused" in added) return { failed: `There is no room for ${name}: ${added.refused}.`, code: 1 };
  // The network's own parameters are those of its genesis block, whatever the configuration says by now.
  const { chainId, consensus, traceNode } = manifest;
  const written = {
    ...config,
    chainId,
    consensus,
    traceNode: { ...config.traceNode, enabled: traceNode !== undefined },
  };
  const files = nodeFiles({ config: written, place: added.place, key: key.isNew ? key : undefined });
  const hasConfig = await exists(join(folder, name, "config.toml"));
  await writeFiles(folder, hasConfig ? files.filter(({ secret }) => secret === true) : files);
  const own = await writeMembership({ folder, before: manifest, after: added.manifest });
  for (const line of own) note(`compose.env has a line of your own: put ${line} there.`);
  note(`${name} has the address ${key.address}, at ${added.place.host}.`);
  return key;
}

async function keyOf(folder: string, name: string): Promise<(NodeKey & { isNew: boolean }) | NotChanged> {
  const file = join(folder, name, "key");
  if (!(await exists(file))) return { ...createNodeKey(), isNew: true };
  try {
    return { ...createNodeKey((await readFile(file, "utf8")).trim()), isNew: false };
  } catch {
    return { failed: `${file} is there and is no key that can be read: move it away first.`, code: 1 };
  }
}

function allowlistHint({ config, values }: Pick<CommandInput, "config" | "values">): string {
  if (!config.node.peerAllowlist || values["native"] === true) return "";
  return (
    "\nWith peerAllowlist each validator reads at its start who may be its peer: restart them one by one " +
    '(docker/RUNBOOK.md, chapter "Change the validators"), then run this again.'
  );
}
