import { compareVersions } from "../../../lib/version.ts";
import { tellLastWords } from "../bring-up.ts";
import type { CommandInput } from "../command.ts";
import { commandLike } from "../command-like.ts";
import type { NetworkNode, Nodes } from "../nodes.ts";
import { whyNoneToSpare } from "../none-to-spare.ts";
import { currentStatus } from "../show-status.ts";
import type { NotChanged } from "../validators/change.ts";
import { besuNodes } from "./besu-nodes.ts";
import { runningVersion } from "./besu-version.ts";
import { changeTrack, readVersions, type Track, versionFor, withVersion } from "./versions-file.ts";
import { type Judgement, watchNode } from "./watch-node.ts";

export type UpgradeTimes = { syncWithinMs: number; watchMs: number };
export type BesuUpgrade = UpgradeTimes & {
  /** As it was asked for. */
  to: string;
  /** Their names; empty: all. */
  only: readonly string[];
  allowDowngrade: boolean;
};

export type Upgraded = {
  to: string;
  version: string;
  /** Those that were changed now. */
  changed: readonly string[];
  /** Those that had it already. */
  unchanged: readonly string[];
};

/** What `upgrade` would do, or why it does not begin. */
export type BesuPlan = {
  to: string;
  version: string;
  /** In this order: one that a run before has left half done comes first. */
  nodes: readonly NetworkNode[];
  due: readonly NetworkNode[];
  running: ReadonlyMap<string, string | undefined>;
};

/** Looks at the new version and at the network. Changes nothing. */
export async function planBesu(input: CommandInput, asked: BesuUpgrade): Promise<BesuPlan | NotChanged> {
  const { nodes, folder } = input;
  const found = await nodes.besu.look(asked.to, { fetch: input.values["dry-run"] !== true });
  if ("failed" in found) return { failed: `${found.failed}\nNothing is changed.`, code: 1 };
  const track = (await readVersions(folder))[nodes.besu.track];
  const underway = track.next?.underway?.name;
  const { traceNode } = nodes;
  const isTraceNodeUp =
    traceNode !== undefined && (traceNode.name === underway || (await nodes.isRunning(traceNode.name)));
  const there = [...nodes.list, ...(isTraceNodeUp ? [traceNode] : [])];
  const chosen = there.filter(({ name }) => asked.only.length === 0 || asked.only.includes(name));
  if (chosen.length === 0) {
    const failed = `${asked.only.join(", ")} does not run: it gets the version that all others run with its next start. Nothing is changed.`;
    return { failed, code: 1 };
  }
  const ordered = chosen.toSorted(
    (one, other) => Number(other.name === underway) - Number(one.name === underway),
  );
  const running = new Map<string, string | undefined>();
  await Promise.all(there.map(async ({ name, rpcUrl }) => running.set(name, await runningVersion(rpcUrl))));
  const due: NetworkNode[] = [];
  for (const node of ordered) {
    const { name } = node;
    const isDone =
      name !== underway &&
      versionFor(track, name) === found.to &&
      running.get(name) === found.version &&
      (await nodes.besu.runs(name, found.to));
    if (!isDone) due.push(node);
  }
  const plan = { ...found, nodes: ordered, due, running };
  const takesOneAway = due.some(({ name }) => name !== traceNode?.name);
  const refused =
    whyDowngrade(plan, asked) ??
    (plan.due.length === 0
      ? undefined
      : whyNoneToSpare(input, await currentStatus(input), {
          ...{ underway, takesOneAway },
          what: "an upgrade",
        }));
  return refused ?? plan;
}

/** What a run does, a line a step. */
export function besuSteps(
  plan: BesuPlan,
  { watchMs }: UpgradeTimes,
  { traceNode }: Pick<Nodes, "traceNode">,
): string[] {
  return plan.due.map(({ name, address }) => {
    const from = plan.running.get(name);
    const task = address === traceNode?.address ? "to run traces" : "to propose or seal";
    return (
      `${name}: stopped, started with Besu ${plan.version}${from === undefined ? "" : ` (now ${from})`}, has to have all blocks, ${task}, ` +
      `and to do well for ${Math.round(watchMs / 1000)} s with all others; else it goes back.`
    );
  });
}

/** Changes one node after the other. Where one does not do well it goes back to what it ran, and the rest stays as it is. */
export async function upgradeBesu(
  input: CommandInput,
  plan: BesuPlan,
  times: UpgradeTimes,
): Promise<Upgraded | NotChanged> {
  const { besu } = input.nodes;
  const change = (by: (track: Track) => Track) => changeTrack(input.folder, besu.track, by);
  await change((track) =>
    track.next?.to === plan.to ? track : { ...track, next: { to: plan.to, done: [] } },
  );
  const changed: string[] = [];
  for (const node of plan.due) {
    const refused = await refuseIfOthersAreDown(input, node.name);
    if (refused !== undefined) return { ...refused, failed: `${refused.failed}\n${await whatIsWhat(input)}` };
    const failed = await upgradeNode(input, { plan, node, times });
    if (failed !== undefined) return { ...failed, failed: `${failed.failed}\n${await whatIsWhat(input)}` };
    changed.push(node.name);
  }
  const { traceNode } = input.nodes;
  const all = besuNodes(input.nodes)
    .map(({ name }) => name)
    .filter((name) => name !== traceNode?.name || plan.running.has(name));
  await change((track) => {
    const isWhole = all.every((name) => versionFor(track, name) === plan.to);
    const { next: _over, ...rest } = track;
    return isWhole ? { use: plan.to, on: {} } : rest;
  });
  if (traceNode !== undefined && !plan.running.has(traceNode.name))
    input.note(`${traceNode.name} does not run; its next start is with what all others run then.`);
  const unchanged = plan.nodes.map(({ name }) => name).filter((name) => !changed.includes(name));
  return { to: plan.to, version: plan.version, changed, unchanged };
}

async function upgradeNode(
  input: CommandInput,
  { plan, node, times }: { plan: BesuPlan; node: NetworkNode; times: UpgradeTimes },
): Promise<NotChanged | undefined> {
  const { folder, note } = input;
  const { name } = node;
  const { track: trackName } = input.nodes.besu;
  const change = (by: (track: Track) => Track) => changeTrack(folder, trackName, by);
  const track = await change((before) => {
    const next = before.next ?? { to: plan.to, done: [] };
    // One that a run before has begun with had something else before.
    const underway = next.underway?.name === name ? next.underway : { name, before: before.on[name] ?? null };
    return { ...before, next: { ...next, done: next.done.filter((done) => done !== name), underway } };
  });
  const before = track.next?.underway?.before ?? undefined;
  const isOn =
    versionFor(track, name) === plan.to &&
    plan.running.get(name) === plan.version &&
    (await input.nodes.besu.runs(name, plan.to));
  if (isOn) note(`${name} runs Besu ${plan.version} already, and is watched.`);
  else {
    note(`${name} gets Besu ${plan.version}.`);
    await input.nodes.stop(name);
    await change((now) => withVersion(now, name, plan.to));
    const failed = await startAgain(input, name);
    if (failed !== undefined)
      return goBack(input, { node, before, why: `could not be started: ${failed}`, times, plan });
  }
  const { nodes } = await input.reopen();
  const judged = await watchNode(input, { nodes, node, version: plan.version, ...times });
  if (!judged.fit) {
    if ("interrupted" in judged) return interrupted(input, name);
    return goBack(input, { node, before, why: judged.why, times, plan });
  }
  note(`${name} does well with Besu ${plan.version}, at block ${judged.height}.`);
  await change((now) => {
    const { underway: _over, ...next } = now.next ?? { to: plan.to, done: [] };
    return { ...now, next: { ...next, done: [...next.done, name] } };
  });
  return undefined;
}

/** The old version of one node again, and the end of the upgrade. */
async function goBack(
  input: CommandInput,
  {
    node,
    before,
    why,
    times,
    plan,
  }: { node: NetworkNode; before: string | undefined; why: string; times: UpgradeTimes; plan: BesuPlan },
): Promise<NotChanged> {
  const { folder, note } = input;
  const { name } = node;
  const opened = await input.reopen();
  const words = await tellLastWords(opened.nodes, name);
  note(`${name} with Besu ${plan.version} ${why}.${words}\nIt goes back.`);
  await opened.nodes.stop(name);
  await changeTrack(folder, opened.nodes.besu.track, (track) => {
    const { underway: _over, ...next } = track.next ?? { to: plan.to, done: [] };
    return { ...withVersion(track, name, before), next };
  });
  const failed = await startAgain(input, name);
  const { nodes } = await input.reopen();
  const back: Judgement =
    failed === undefined
      ? await watchNode(input, { nodes, node, version: undefined, ...times, watchMs: 0 })
      : { fit: false, why: failed };
  const told = `${name} did not do well with Besu ${plan.version}: it ${why}.`;
  if (back.fit)
    return {
      failed: `${told} It runs what it ran before, at block ${back.height}; no other node was touched after it.`,
      code: 1,
    };
  if ("interrupted" in back) return interrupted(input, name);
  return {
    failed:
      `${told} And it does not come back with what it ran before: ${name} ${back.why}. Its database may be the newer version's, which the older one ` +
      `cannot open: npm run network -- ${commandLike(input, `wipe ${name.replace("validator-", "")}`)} has it fetch the chain again.`,
    code: 1,
  };
}

async function startAgain(input: CommandInput, name: string): Promise<string | undefined> {
  const { nodes } = await input.reopen();
  const obstacles = await nodes.obstacles([name]);
  if (obstacles.length > 0) return obstacles.join("\n");
  return (await nodes.start([name]))?.failed;
}

function interrupted(input: CommandInput, name: string): NotChanged {
  return {
    failed: `Interrupted: ${name} was changed and not judged yet. The same command goes on with it: npm run network -- ${commandLike(input, "upgrade")} …`,
    code: 130,
  };
}

/** Somebody else's node may have gone while the one before was watched. */
async function refuseIfOthersAreDown(input: CommandInput, name: string): Promise<NotChanged | undefined> {
  const { nodes } = await input.reopen();
  const status = await currentStatus({ ...input, nodes });
  const track = (await readVersions(input.folder))[nodes.besu.track];
  return whyNoneToSpare(input, status, {
    underway: track.next?.underway?.name ?? name,
    takesOneAway: name !== nodes.traceNode?.name,
    what: "an upgrade",
  });
}

function whyDowngrade(
  { due, running, version }: Pick<BesuPlan, "due" | "running" | "version">,
  { allowDowngrade }: BesuUpgrade,
): NotChanged | undefined {
  const newer = due.filter(({ name }) => compareVersions(running.get(name) ?? version, version) > 0);
  const [first] = newer;
  if (first === undefined || allowDowngrade) return undefined;
  return {
    failed:
      `${newer.map(({ name }) => name).join(", ")} run${newer.length === 1 ? "s" : ""} Besu ${running.get(first.name)}, which is newer than ${version}. An older Besu may not open a newer one's ` +
      "database. If Besu's changelog says that it does: --allow-downgrade. Nothing is changed.",
    code: 1,
  };
}

/** Which node runs which version now. */
async function whatIsWhat({ reopen }: CommandInput): Promise<string> {
  const { nodes } = await reopen();
  const rows = await Promise.all(
    besuNodes(nodes).map(async ({ name, rpcUrl }) => `  ${name} runs ${await told(rpcUrl)}`),
  );
  return rows.join("\n");
}

async function told(rpcUrl: string): Promise<string> {
  const version = await runningVersion(rpcUrl);
  return version === undefined ? "nothing that answers" : `Besu ${version}`;
}
