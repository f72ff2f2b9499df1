import { dirname, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { compareVersions } from "../../../lib/version.ts";
import type { CommandInput } from "../command.ts";
import { commandLike } from "../command-like.ts";
import type { NotChanged } from "../validators/change.ts";
import type { KeptConfig } from "./kept-config.ts";
import type { Services, Told } from "./services.ts";
import type { Upgraded, UpgradeTimes } from "./upgrade-besu.ts";
import {
  changeTrack,
  readVersions,
  type Track,
  versionFor,
  wholeTrack,
  withConfig,
  withVersion,
} from "./versions-file.ts";

export type ServicePlan = {
  to: string;
  version: string;
  names: readonly string[];
  due: readonly string[];
  running: ReadonlyMap<string, Told | undefined>;
};

const pollMs = 1000;
/** Of the requests that a process answered while it was watched, so many in a hundred may fail; a handful always may. */
const failuresPercentMax = 1;
const failuresMin = 5;

/** Looks at the image and at the containers. Changes nothing. */
export async function planServices(
  input: CommandInput,
  services: Services,
  { to, only, allowDowngrade }: { to: string; only: readonly string[]; allowDowngrade: boolean },
): Promise<ServicePlan | NotChanged> {
  const found = await services.look(to, { fetch: input.values["dry-run"] !== true });
  if ("failed" in found) return { failed: `${found.failed}\nNothing is changed.`, code: 1 };
  const track = (await readVersions(input.folder)).image;
  const underway = track.next?.underway?.name;
  const up = await services.running();
  const known = underway === undefined || up.includes(underway) ? up : [underway, ...up];
  const names = known
    .filter((name) => only.length === 0 || only.includes(name))
    .toSorted((one, other) => Number(other === underway) - Number(one === underway));
  if (names.length === 0) return { failed: "None of our processes runs: nothing is changed.", code: 1 };
  const running = new Map<string, Told | undefined>();
  const due: string[] = [];
  for (const name of names) {
    const told = await services.tell(name);
    running.set(name, told);
    const isDone =
      name !== underway &&
      versionFor(track, name) === found.to &&
      told?.version === found.version &&
      (await services.runs(name, found.to));
    if (!isDone) due.push(name);
  }
  const plan = { ...found, names, due, running };
  return whyNot(plan, { underway, allowDowngrade }) ?? plan;
}

export function serviceSteps({ due, version, running }: ServicePlan, { watchMs }: UpgradeTimes): string[] {
  return due.map((name) => {
    const from = running.get(name)?.version;
    return (
      `${name}: made anew with version ${version}${from === undefined ? "" : ` (now ${from})`}, has to be ready and to answer for ` +
      `${Math.round(watchMs / 1000)} s; else it goes back.`
    );
  });
}

/** Changes one after the other; where one does not do well it goes back, and the rest stays as it is. */
export async function upgradeServices(
  input: CommandInput,
  services: Services,
  plan: ServicePlan,
  times: UpgradeTimes,
): Promise<Upgraded | NotChanged> {
  const change = (by: (track: Track) => Track) => changeTrack(input.folder, "image", by);
  const { kept } = services;
  const changed: string[] = [];
  await keepFiles(input, services, plan);
  for (const name of plan.due) {
    const now = plan.running.get(name)?.version;
    const config = await filesOf(input, kept, { name, now, version: plan.version });
    const track = await change((before) => {
      const next = before.next?.to === plan.to ? before.next : { to: plan.to, done: [] };
      const files = before.config?.[name] ?? now;
      const underway =
        next.underway?.name === name
          ? next.underway
          : { name, before: before.on[name] ?? null, ...(files === undefined ? {} : { config: files }) };
      return {
        ...withConfig(withVersion(before, name, plan.to), name, config),
        next: { ...next, underway },
      };
    });
    if (config !== undefined) input.note(filesWords(input, kept, [name], config));
    input.note(`${name} gets version ${plan.version}.`);
    const why = await bring(input, services, { name, plan, times });
    if (why === "interrupted") {
      const failed = `Interrupted: ${name} was changed and not judged yet. The same command goes on with it: npm run network -- ${commandLike(input, "upgrade")} …`;
      return { failed, code: 130 };
    }
    if (why !== undefined) {
      const before = track.next?.underway?.before ?? undefined;
      input.note(`${name} with version ${plan.version} ${why}.\nIt goes back.`);
      const files = track.next?.underway?.config;
      const config = (await kept.hasOther(files)) ? files : undefined;
      await change((now) => ({
        ...withConfig(withVersion(now, name, before), name, config),
        next: { to: plan.to, done: now.next?.done ?? [] },
      }));
      if (config !== undefined) input.note(filesWords(input, kept, [name], config));
      return goneBack(input, services, { name, why, plan, changed });
    }
    input.note(`${name} does well with version ${plan.version}.`);
    await change((now) => ({ ...now, next: { to: plan.to, done: [...(now.next?.done ?? []), name] } }));
    changed.push(name);
  }
  const up = await services.running();
  await change((track) => {
    const { next: _over, ...rest } = track;
    return up.every((name) => versionFor(track, name) === plan.to) ? wholeTrack(rest, plan.to) : rest;
  });
  await services.keepConfig();
  await keepForOthers(input, services, plan);
  return {
    to: plan.to,
    version: plan.version,
    changed,
    unchanged: plan.names.filter((name) => !changed.includes(name)),
  };
}

/** Before anything is changed: each version that runs keeps its files, so that whoever goes back finds them. */
async function keepFiles(
  input: CommandInput,
  { keepConfig, kept }: Services,
  { due, running }: ServicePlan,
): Promise<void> {
  await keepConfig();
  const { config = {} } = (await readVersions(input.folder)).image;
  // Who reads kept files already has them.
  const versions = due.flatMap((name) =>
    config[name] === undefined ? (running.get(name)?.version ?? []) : [],
  );
  for (const now of new Set(versions)) {
    if (await kept.keepAs(now)) continue;
    input.note(
      `Of the configuration that ${now} runs with no copy was kept, and config/ is not what it takes: whoever goes back starts with config/ as it is. ` +
        `Where that is not to be: Ctrl-C, put the files of ${now} into ${kept.runningFolder}, and run the command again.`,
    );
  }
}

/** The version whose kept files it is to read: an older one's own, of the same version what it reads now. A newer one's are in config/. */
async function filesOf(
  { folder }: Pick<CommandInput, "folder">,
  kept: KeptConfig,
  { name, now, version }: { name: string; now: string | undefined; version: string },
): Promise<string | undefined> {
  if (now === undefined) return undefined;
  const difference = compareVersions(version, now);
  if (difference === 0) return (await readVersions(folder)).image.config?.[name];
  return difference < 0 && (await kept.hasOther(version)) ? version : undefined;
}

/** Those that stay on an older version get its files too: config/ is the new version's, and their next start has to find what they take. */
async function keepForOthers(
  input: CommandInput,
  services: Services,
  { to }: Pick<ServicePlan, "to">,
): Promise<void> {
  const track = (await readVersions(input.folder)).image;
  const byVersion = new Map<string, string[]>();
  for (const name of await services.running()) {
    if (versionFor(track, name) === to || track.config?.[name] !== undefined) continue;
    const version = (await services.tell(name))?.version;
    if (version === undefined || !(await services.kept.hasOther(version))) continue;
    byVersion.set(version, [...(byVersion.get(version) ?? []), name]);
  }
  for (const [version, names] of byVersion) {
    await changeTrack(input.folder, "image", (now) =>
      names.reduce((changed, name) => withConfig(changed, name, version), now),
    );
    input.note(
      `${filesWords(input, services.kept, names, version)} From their next start on: npm run network -- ${commandLike(input, "up")}`,
    );
  }
}

function filesWords(
  { folder }: Pick<CommandInput, "folder">,
  kept: KeptConfig,
  names: readonly string[],
  version: string,
): string {
  const verb = names.length === 1 ? "reads" : "read";
  return (
    `${names.join(", ")} ${verb} the configuration as it was with version ${version}: ${relative(dirname(folder), kept.folderOf(version))}. ` +
    "What is changed in config/ does not reach them until the next upgrade."
  );
}

/** Starts it and watches it. @returns why it does not do well. */
async function bring(
  { signal, reopen }: CommandInput,
  given: Services,
  { name, plan, times: { watchMs } }: { name: string; plan: ServicePlan; times: UpgradeTimes },
): Promise<"interrupted" | string | undefined> {
  // The image is in the file that a reopened network reads.
  const services = (await reopen()).nodes.services ?? given;
  const before = plan.running.get(name);
  const failed = await services.up(name, signal);
  if (signal.aborted) return "interrupted";
  if (failed !== undefined) return `did not become healthy: ${failed}`;
  const identity = await services.identityOf(name);
  const untilMs = performance.now() + watchMs;
  for (let first: Told | undefined; ; ) {
    const told = await services.tell(name);
    if ((await services.identityOf(name)) !== identity) return "has ended by itself";
    if (told !== undefined && told.version !== plan.version)
      return `says that it is ${told.version}, and not ${plan.version}`;
    first ??= told;
    if (performance.now() >= untilMs) return judge({ before, first, last: told });
    await sleep(pollMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return "interrupted";
  }
}

/** What is worse than with the version before. */
function judge({
  before,
  first,
  last,
}: {
  before: Told | undefined;
  first: Told | undefined;
  last: Told | undefined;
}): string | undefined {
  if (last === undefined) return "does not answer on its ops port";
  if (!last.ready) return `is not ready: ${last.reasons.join("; ")}`;
  const worse = last.reasons.filter((reason) => before?.reasons.includes(reason) !== true);
  if (worse.length > 0) return `is not whole: ${worse.join("; ")}`;
  const requests = last.requests - (first?.requests ?? 0);
  const failures = last.failures - (first?.failures ?? 0);
  const failuresMax = Math.max(failuresMin, (requests * failuresPercentMax) / 100);
  return failures > failuresMax
    ? `answered ${failures} of ${requests} requests with an error of its own`
    : undefined;
}

async function goneBack(
  input: CommandInput,
  given: Services,
  { name, why, plan, changed }: { name: string; why: string; plan: ServicePlan; changed: readonly string[] },
): Promise<NotChanged> {
  const { reopen, signal } = input;
  const services = (await reopen()).nodes.services ?? given;
  const failed = await services.up(name, signal);
  await keepForOthers(input, services, plan);
  const others = plan.due.filter((other) => other !== name && !changed.includes(other));
  const rest = [
    ...(changed.length === 0 ? [] : [`${changed.join(", ")}: version ${plan.version}`]),
    ...(others.length === 0 ? [] : [`${others.join(", ")}: as before`]),
  ].map((line) => `\n  ${line}`);
  const told = `${name} did not do well with version ${plan.version}: it ${why}.`;
  if (failed === undefined) return { failed: `${told} It runs what it ran before.${rest.join("")}`, code: 1 };
  return {
    failed: `${told} And it does not come back with what it ran before: ${failed}${rest.join("")}\nWhat to do: docker/RUNBOOK.md, chapter "Upgrade one by one".`,
    code: 1,
  };
}

function whyNot(
  { due, running, version }: ServicePlan,
  { underway, allowDowngrade }: { underway: string | undefined; allowDowngrade: boolean },
): NotChanged | undefined {
  const unwell = due.filter((name) => name !== underway && running.get(name)?.ready !== true);
  if (unwell.length > 0) {
    const failed = `Not now: ${unwell.join(", ")} ${unwell.length === 1 ? "is" : "are"} not ready with the version of now, so whether the new one does well could not be told. Nothing is changed.`;
    return { failed, code: 1 };
  }
  const newer = due.filter((name) => compareVersions(running.get(name)?.version ?? version, version) > 0);
  if (newer.length === 0 || allowDowngrade) return undefined;
  return {
    failed:
      `${newer.join(", ")} run${newer.length === 1 ? "s" : ""} a version newer than ${version}. An older one starts only where the newer one's data lets it. ` +
      "If it is to be all the same: --allow-downgrade. Nothing is changed.",
    code: 1,
  };
}
