import { setTimeout as sleep } from "node:timers/promises";
import { signersOf } from "../../../lib/ibft/block-header.ts";
import { askNode } from "../chain/ask-node.ts";
import { readHeaders } from "../chain/follow-blocks.ts";
import type { NetworkStatus, ValidatorStatus } from "../chain/network-status.ts";
import type { CommandInput } from "../command.ts";
import type { NetworkNode, Nodes } from "../nodes.ts";
import { currentStatus } from "../show-status.ts";
import { stalledAfterMs } from "../validators/change.ts";
import { besuNodes } from "./besu-nodes.ts";
import { runningVersion } from "./besu-version.ts";

/** How a node that was started is judged. */
export type Judgement =
  | { fit: true; height: number }
  | { fit: false; why: string }
  | { fit: false; interrupted: true };

const pollMs = 500;
const traceMethod = "trace_block";
const lagMax = 1;
/** Turns of all validators until one has to have proposed or sealed. */
const turnsMax = 3;

type Look = {
  status: NetworkStatus;
  row: ValidatorStatus;
  /** Since when the chain stands or the node is behind; undefined while all is well. */
  badForMs: number;
};

/**
 * Watches a node that was just started: it has to be of the right version, on the network's chain, get all blocks, propose or seal, and then
 * to do well for `watchMs` while all others do. Whatever cannot become good again ends the watch at once.
 */
export async function watchNode(
  input: Pick<CommandInput, "manifest" | "config" | "now" | "signal">,
  {
    nodes,
    node,
    version,
    syncWithinMs,
    watchMs,
  }: { nodes: Nodes; node: NetworkNode; version: string | undefined; syncWithinMs: number; watchMs: number },
): Promise<Judgement> {
  const { signal, manifest } = input;
  const patienceMs = stalledAfterMs(input);
  const identity = await nodes.identityOf(node.name);
  const isTraceNode = nodes.traceNode?.name === node.name;
  const startedMs = performance.now();
  let phase: { name: "sync" } | { name: "seal"; from: number } | { name: "watch"; untilMs: number } = {
    name: "sync",
  };
  let badSinceMs: number | undefined;
  for (;;) {
    if (signal.aborted) return { fit: false, interrupted: true };
    const isSame = identity !== undefined && (await nodes.identityOf(node.name)) === identity;
    if (!isSame) return unfit("has ended by itself");
    const status = await currentStatus({ ...input, nodes: { ...nodes, list: besuNodes(nodes) } });
    const row = status.validators.find(({ name }) => name === node.name);
    if (row === undefined) return unfit("is none of the network's nodes");
    if (row.state === "other network") return unfit("answers for another chain");
    const nowMs = performance.now();
    const isBad =
      status.verdict === "stalled" ||
      (phase.name !== "sync" && (row.state !== "up" || (row.lag ?? 0) > lagMax));
    badSinceMs = isBad ? (badSinceMs ?? nowMs) : undefined;
    const look: Look = { status, row, badForMs: badSinceMs === undefined ? 0 : nowMs - badSinceMs };
    if (look.badForMs > patienceMs) return unfit(whyBad(look));
    if (phase.name === "sync") {
      const said = row.state === "up" ? await runningVersion(node.rpcUrl) : undefined;
      if (version !== undefined && said !== undefined && said !== version)
        return unfit(`says that it is ${said}, and not ${version}`);
      if (said !== undefined && isSynced(look)) phase = { name: "seal", from: (row.height ?? 0) + 1 };
      else if (nowMs - startedMs > syncWithinMs) return unfit(whyNotSynced(look, syncWithinMs));
    }
    if (phase.name === "seal") {
      const { from } = phase;
      const to = row.height ?? 0;
      // It shows its own seals in its own headers.
      const headers = row.inSet ? await readHeaders(node.rpcUrl, from, to) : [];
      const takesPart = headers.some(
        (header) => header.miner === node.address || signersOf(header).has(node.address),
      );
      const runsTraces = !isTraceNode || (await answersTraces(node.rpcUrl, to));
      if (!runsTraces) return unfit(`runs no traces: it answers ${traceMethod} with an error`);
      if (takesPart || !row.inSet) phase = { name: "watch", untilMs: nowMs + watchMs };
      else if (to - from >= turnsMax * status.members)
        return unfit(`has neither proposed nor sealed any of the blocks ${from} to ${to}`);
    }
    if (phase.name === "watch" && nowMs >= phase.untilMs) {
      // A trace node does well though a validator is down.
      if (badSinceMs === undefined && (isTraceNode || allTakePart(status)))
        return { fit: true, height: row.height ?? 0 };
      if (nowMs > phase.untilMs + patienceMs)
        return unfit(`does well, but not all others do: ${status.reasons.join("; ")}`);
    }
    await sleep(pollMs, undefined, { signal }).catch(() => {});
  }

  function isSynced({ row }: Look): boolean {
    const needsPeers = manifest.validators.length > 1;
    return row.state === "up" && (row.lag ?? lagMax + 1) <= lagMax && (!needsPeers || (row.peers ?? 0) > 0);
  }
}

/** Whether a node traces a block. One that is slow with it may be loaded. */
async function answersTraces(url: string, block: number): Promise<boolean> {
  const answers = await askNode(url, [{ method: traceMethod, params: [`0x${block.toString(16)}`] }]);
  return answers === undefined || Array.isArray(answers[0]);
}

function unfit(why: string): Judgement {
  return { fit: false, why };
}

/** Whether every validator keeps up and proposes or seals. */
export function allTakePart({ present, members }: Pick<NetworkStatus, "present" | "members">): boolean {
  return present === members;
}

function whyBad({ status, row }: Look): string {
  if (status.verdict === "stalled") return `runs, and the chain stands still: ${status.reasons.join("; ")}`;
  return row.state === "up" ? `has fallen ${row.lag ?? 0} blocks behind` : "answers no more";
}

function whyNotSynced({ row }: Look, withinMs: number): string {
  const within = `within ${Math.round(withinMs / 1000)} s`;
  if (row.state !== "up") return `did not answer ${within}`;
  return `did not get the blocks of the others ${within}: it is at block ${row.height ?? 0}, ${row.lag ?? 0} behind, with ${row.peers ?? 0} peers`;
}
