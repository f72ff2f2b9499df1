import { readValidatorName } from "../../../genesis/members.ts";
import { CommandError } from "../../../lib/cli/command.ts";
import { readOperatorKey } from "../chain/ask-as-operator.ts";
import { type NetworkStatus, stallLimitSeconds } from "../chain/network-status.ts";
import type { CommandInput, ExitCode } from "../command.ts";
import { commandLike } from "../command-like.ts";
import type { Nodes } from "../nodes.ts";
import { castVotes, type VoteResult } from "./cast-votes.ts";
import { quorumText } from "./quorum-words.ts";
import { readEpochBlocks } from "./read-epoch.ts";
import { createVotePost } from "./vote-post.ts";

/** Why a change was not made, or not to its end, and the exit code for it. */
export type NotChanged = { failed: string; code: ExitCode };

/** A chain that makes no block for this many times the limit of `status` is not waited for any more. */
const patience = 6;

/** The name that a word means. Throws a CommandError for what is none. */
export function validatorName(word: string): string {
  const name = readValidatorName(word);
  if (name !== undefined) return name;
  throw new CommandError(
    `"${word}" is no validator's name: validator-6 or 6 was expected, with a number from 1 to 999.`,
    { exitCode: 2 },
  );
}

/** Nothing is voted while the chain stands: votes are cast in blocks. */
export function whyStalled(
  input: Pick<CommandInput, "values">,
  status: NetworkStatus,
): NotChanged | undefined {
  if (status.verdict !== "stalled") return undefined;
  return {
    code: 1,
    failed:
      `The chain stands still, and votes are cast in blocks: nothing is changed.\n  ${status.reasons.join("\n  ")}\n` +
      `First bring validators back: npm run network -- ${commandLike(input, "recover")}`,
  };
}

/** The two numbers of validators, and what they mean. */
export function tellQuorum(note: CommandInput["note"], before: number, after: number): void {
  note(`Now ${quorumText(before)}\nThen ${quorumText(after)}`);
}

/** Without a new block for so long a change waits no longer. */
export function stalledAfterMs({ manifest, config }: Pick<CommandInput, "manifest" | "config">): number {
  const { stalledAfterSeconds } = config.status;
  return patience * 1000 * stallLimitSeconds({ ...manifest, stalledAfterSeconds });
}

/** Has the set changed by votes of our nodes. */
export async function changeSet(
  input: Pick<CommandInput, "folder" | "config" | "signal" | "note" | "now">,
  {
    nodes,
    manifest,
    recipient,
    name,
    add,
  }: { nodes: Nodes; manifest: CommandInput["manifest"]; recipient: string; name: string; add: boolean },
): Promise<VoteResult> {
  return castVotes({
    post: await openPost(input, { nodes, manifest }),
    nodes: nodes.list,
    manifest,
    epochBlocks: await readEpochBlocks(input.folder, manifest),
    recipient,
    name,
    add,
    stalledAfterMs: stalledAfterMs({ manifest, config: input.config }),
    signal: input.signal,
    note: input.note,
  });
}

export async function openPost(
  { folder, now }: Pick<CommandInput, "folder" | "now">,
  { nodes, manifest }: Pick<CommandInput, "nodes" | "manifest">,
) {
  return createVotePost({
    consensus: manifest.consensus,
    privateKey: await readOperatorKey(folder),
    isRunning: nodes.isRunning,
    now,
  });
}

/** What a vote that did not pass means for the command. */
export function notPassed(result: Extract<VoteResult, { failed: string }>, name: string): NotChanged {
  return {
    failed: `The validators are as they were, ${name} too: ${result.failed}.`,
    code: result.interrupted === true ? 130 : 1,
  };
}
