import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ours, prepareOurs } from "../gateway/contestants/ours.ts";
import { connections } from "../gateway/measure.ts";
import { cpuSeconds } from "../gateway/process-usage.ts";
import { findPrograms, MissingProgramsError, missingForAll } from "../gateway/programs.ts";
import { createRig, type Rig } from "../gateway/rig.ts";
import { runWrk } from "../gateway/run-wrk.ts";
import { startContestant } from "../gateway/start-contestant.ts";
import type { Workload } from "../gateway/workloads.ts";
import { type CpuTimes, readCpuProfile } from "./read-cpu-profile.ts";

export type ProfileResult = {
  work: string;
  requests: number;
  seconds: number;
  /** CPU time of the gateway's process over all threads, by the kernel's count. */
  cpuSeconds: number;
  times: CpuTimes;
  /** The profile itself, for Chrome's developer tools. */
  cpuProfile: string;
};

const warmUpSeconds = 3;
const sampleUs = 250;
/** Long, since writing a large profile takes time. */
const stopWithinMs = 30_000;

/**
 * Runs the gateway alone under load, with Node's profiler.
 * @throws MissingProgramsError; when `signal` aborts, whatever was under way fails.
 */
export async function runProfile({
  work,
  seconds,
  env,
  signal,
}: {
  work: Workload;
  seconds: number;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}): Promise<ProfileResult> {
  const programs = await findPrograms({ contestants: [ours], path: env["PATH"] });
  const problems = missingForAll(programs);
  if (problems.length > 0) throw new MissingProgramsError(problems);
  const rig = await createRig({ programs: programs.found, env });
  const stop = () => void rig.stop();
  signal.addEventListener("abort", stop);
  try {
    signal.throwIfAborted();
    return await profile({ rig, work, seconds });
  } finally {
    signal.removeEventListener("abort", stop);
    await rig.stop();
  }
}

async function profile({
  rig,
  work,
  seconds,
}: {
  rig: Rig;
  work: Workload;
  seconds: number;
}): Promise<ProfileResult> {
  const folder = await rig.folderFor("profile");
  const flags = ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${sampleUs}`];
  const { url, child, pids } = await startContestant({
    contestant: ours,
    rig,
    prepare: (setup) => prepareOurs(setup, flags),
  });
  await runWrk(rig, { work, url, connections, seconds: warmUpSeconds, run: 1 });
  const usedBefore = cpuSeconds(pids());
  const fromUs = nowUs();
  const load = await runWrk(rig, { work, url, connections, seconds, run: 2 });
  const toUs = nowUs();
  const used = cpuSeconds(pids()) - usedBefore;
  await child.stop({ withinMs: stopWithinMs });
  const [file] = await readdir(folder);
  if (file === undefined) throw new Error("the gateway wrote no profile");
  const cpuProfile = await readFile(join(folder, file), "utf8");
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const times = readCpuProfile(cpuProfile, { fromUs, toUs, root });
  const { requests, seconds: took } = load;
  return { work: work.name, requests, seconds: took, cpuSeconds: used, times, cpuProfile };
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
