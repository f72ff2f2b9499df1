import { z } from "zod";
import { type Module, moduleOf } from "./module-of.ts";

/** A function's own time, without the functions that it calls. */
export type FunctionTime = {
  /** `name`, or `name ← caller` for one that is not written in JavaScript. */
  name: string;
  /** File and line, `gateway/pipeline/pipeline.ts:41`; empty for what is not written in JavaScript. */
  place: string;
  module: Module;
  us: number;
};

export type CpuTimes = {
  /** The time of all samples, and the idle part of it. */
  totalUs: number;
  idleUs: number;
  /** Longest first; idle time left out. */
  functions: FunctionTime[];
};

/** A profile as `node --cpu-prof` writes it (Chrome DevTools Protocol, Profiler.Profile). Lines count from 0. */
const profileSchema = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
      children: z.array(z.number()).default([]),
    }),
  ),
  startTime: z.number(),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});
type Node = z.infer<typeof profileSchema>["nodes"][number];

const idleName = "(idle)";

/**
 * Sums up the samples between two moments.
 *
 * @param fromUs as `toUs` by the clock of the profile, which on Linux is that of `process.hrtime`, in microseconds.
 */
export function readCpuProfile(
  text: string,
  { fromUs, toUs, root }: { fromUs: number; toUs: number; root: string },
): CpuTimes {
  const profile = profileSchema.parse(JSON.parse(text));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map<number, Node>();
  for (const node of profile.nodes) for (const child of node.children) parents.set(child, node);

  const selfUs = new Map<number, number>();
  let atUs = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    // A sample stands for the time until the next one.
    atUs += profile.timeDeltas[index] ?? 0;
    const lastsUs = profile.timeDeltas[index + 1] ?? 0;
    if (atUs >= fromUs && atUs < toUs) selfUs.set(id, (selfUs.get(id) ?? 0) + lastsUs);
  }

  const times: CpuTimes = { totalUs: 0, idleUs: 0, functions: [] };
  const byPlace = new Map<string, FunctionTime>();
  for (const [id, us] of selfUs) {
    const node = nodes.get(id);
    if (node === undefined) continue;
    times.totalUs += us;
    if (node.callFrame.functionName === idleName) {
      times.idleUs += us;
      continue;
    }
    const described = describe(node, parents, root);
    const key = `${described.name} ${described.place}`;
    const known = byPlace.get(key);
    if (known === undefined) byPlace.set(key, { ...described, us });
    else known.us += us;
  }
  times.functions = [...byPlace.values()].sort((one, other) => other.us - one.us);
  return times;
}

function describe(node: Node, parents: ReadonlyMap<number, Node>, root: string): Omit<FunctionTime, "us"> {
  const { functionName, url } = node.callFrame;
  const name = functionName === "" ? "(anonymous)" : functionName;
  if (url !== "") return { name, place: placeOf(node, root), module: moduleOf(shortUrl(url, root)) };
  if (name.startsWith("("))
    return { name, place: "", module: name === "(garbage collector)" ? "GC" : "native" };
  let caller = parents.get(node.id);
  while (caller !== undefined && caller.callFrame.url === "") caller = parents.get(caller.id);
  const suffix = caller === undefined ? "" : ` ← ${caller.callFrame.functionName} ${placeOf(caller, root)}`;
  return { name: name + suffix, place: "", module: "native" };
}

function placeOf({ callFrame: { url, lineNumber } }: Node, root: string): string {
  return `${shortUrl(url, root)}:${lineNumber + 1}`;
}

/** A project file relative to the root; a file of Node as it is. */
function shortUrl(url: string, root: string): string {
  const path = url.replace("file://", "");
  return path.startsWith(root) ? path.slice(root.length) : path;
}
