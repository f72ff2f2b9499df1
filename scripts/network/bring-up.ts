import { type Goal, newBlock, waitForNodes } from "./chain/wait-for-nodes.ts";
import type { CommandInput, ExitCode } from "./command.ts";
import type { Nodes } from "./nodes.ts";
import type { ProgressView } from "./output/progress-view.ts";

/** Five of them take 27 to 43 s on two processors, 106 s on loaded ones; after a stall a long round may have to end first. */
const goalWithinMs = 180_000;
const lastLinesMax = 15;

export type BroughtUp = { height: number; tookMs: number } | NotUp;

/** `interrupted`: `signal` ended it. `runsOn`: the started nodes still run. */
export type NotUp = { failed: string; interrupted: boolean; runsOn: boolean };

/**
 * Starts these nodes together and waits, by default for the chain's next block. If a node ends by itself, or `signal`
 * is aborted, the started nodes stop again. If only the goal is not reached in time, they stay up for inspection.
 */
export async function bringUp({
  nodes,
  names,
  signal,
  progress,
  goal = newBlock(),
  withinMs = goalWithinMs,
  runAlready = false,
}: {
  nodes: Nodes;
  names: readonly string[];
  /** Nodes that already run: they are waited for, and never stopped. */
  runAlready?: boolean;
  signal: AbortSignal;
  progress: ProgressView;
  goal?: Goal;
  withinMs?: number;
}): Promise<BroughtUp> {
  const stopStarted = async () => {
    if (!runAlready) await Promise.all(names.map((name) => nodes.stop(name)));
  };
  if (!runAlready) {
    const obstacles = await nodes.obstacles(names);
    if (obstacles.length > 0) return { failed: obstacles.join("\n"), interrupted: false, runsOn: false };
    const failure = await nodes.start(names);
    if (failure !== undefined) {
      await stopStarted();
      return { failed: failure.failed, interrupted: false, runsOn: false };
    }
  }
  const waited = await waitForNodes({
    nodes,
    started: names,
    goal,
    signal,
    timeoutMs: withinMs,
    onProgress: (all) => progress.show(all.filter(({ name }) => names.includes(name))),
  });
  progress.end();
  if ("height" in waited) return waited;
  const interrupted = signal.aborted;
  if (!interrupted && waited.ended === undefined) {
    const [first = ""] = names;
    const advice = nodes.whatToDo === undefined ? "" : `\n${nodes.whatToDo(first)}`;
    return { failed: `${waited.failed}${advice}`, interrupted, runsOn: true };
  }
  const words = waited.ended === undefined ? "" : await tellLastWords(nodes, waited.ended);
  await stopStarted();
  const failed = `${waited.failed}${runAlready ? "" : "; what was started is stopped again"}${words}`;
  return { failed, interrupted, runsOn: false };
}

/** Prints why a command failed. @returns its exit code. */
export function tellNotUp({ failed, interrupted, runsOn }: NotUp, note: CommandInput["note"]): ExitCode {
  note(runsOn ? `${failed}; what was started runs on` : failed);
  return interrupted ? 130 : 1;
}

/** Why a node ended, its last lines, and what to do. */
export async function tellLastWords(nodes: Nodes, name: string): Promise<string> {
  const trouble = await nodes.troubleOf?.(name);
  const lines: string[] = [];
  await nodes.logs({
    name,
    linesMax: lastLinesMax,
    follow: false,
    signal: new AbortController().signal,
    onLine: (line) => lines.push(`  ${line}`),
  });
  const texts = [
    ...(trouble === undefined ? [] : [`${name} ${trouble}`]),
    ...(lines.length === 0 ? [] : [`The last lines of ${name}:`, ...lines]),
    ...(nodes.whatToDo === undefined ? [] : [nodes.whatToDo(name)]),
  ];
  return texts.map((text) => `\n${text}`).join("");
}
