import { join } from "node:path";
import { checkPorts } from "../processes/check-ports.ts";
import type { Child } from "../processes/run-child.ts";
import { startParentWatch } from "../processes/watch-parent.ts";
import { type ChainKind, openDataFolder } from "./data-folder.ts";
import type { Output } from "./output.ts";
import type { Service, ServiceContext, ServiceRow } from "./service.ts";

export type DevRun = {
  /** 0 after a request to stop; 1 where something did not start or ended by itself. */
  exitCode: Promise<0 | 1>;
  /** Stops everything gracefully, last started first. */
  stop(): void;
  /** Kills everything. */
  kill(): void;
};

/** Why it ended: it was asked to, or something failed. */
type Outcome = "stop" | { failed: string };

/** Brings up the services one after the other, prints the table, and waits until it is stopped or one of them ends. */
export function runDev({
  services,
  env,
  pid,
  cwd,
  chain,
  reset,
  output,
  table,
}: {
  services: readonly Service[];
  env: Readonly<Record<string, string | undefined>>;
  pid: number;
  cwd: string;
  chain: ChainKind;
  reset: boolean;
  output: Output;
  table: (rows: readonly ServiceRow[]) => string;
}): DevRun {
  const stopping = new AbortController();
  const stopAsked = new Promise<"stop">((resolve) =>
    stopping.signal.addEventListener("abort", () => resolve("stop"), { once: true }),
  );
  const children = new Set<Child>();
  const stops: (() => Promise<void>)[] = [];

  async function main(): Promise<0 | 1> {
    const data = await openDataFolder({ folder: join(cwd, ".data"), chain, pid, reset, say: output.say });
    if ("refused" in data) return fail(data.refused);
    try {
      const problems = await checkPorts(services.flatMap(({ ports }) => ports));
      if (problems.length > 0) return fail(problems.join("\n"));
      return await upAndDown(data);
    } finally {
      await data.release();
    }
  }

  async function upAndDown(data: ServiceContext["data"]): Promise<0 | 1> {
    const watch = await startParentWatch();
    const context = createContext({
      env,
      data,
      watch,
      stopping: stopping.signal,
      output,
      children,
      onStop: (stop) => void stops.push(stop),
    });
    const run = bringUpAndWait(context);
    const outcome = await Promise.race([run, stopAsked]);
    const exitCode = outcome === "stop" ? 0 : fail(outcome.failed);
    if (outcome === "stop") output.say("\nStopping …");
    stopping.abort();
    await stopAll();
    // A service that was just being started may have come up meanwhile.
    await run;
    await stopAll();
    await watch.stop();
    if (outcome === "stop") output.say("Everything has stopped; npm start resumes.");
    return exitCode;
  }

  async function bringUpAndWait(context: ServiceContext): Promise<Outcome> {
    const rows: ServiceRow[] = [];
    const deaths: Promise<Outcome>[] = [];
    for (const service of services) {
      if (stopping.signal.aborted) return "stop";
      const started = await service.start(context);
      if ("failed" in started) return started;
      rows.push(...started.rows);
      if (started.child !== undefined) deaths.push(deathOf(started.child));
    }
    if (!stopping.signal.aborted) output.say(table(rows));
    return Promise.race([stopAsked, ...deaths]);
  }

  async function stopAll(): Promise<void> {
    for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop();
  }

  function fail(text: string): 1 {
    output.say(`\nnpm start: ${text}`);
    return 1;
  }

  return {
    exitCode: main(),
    stop: () => stopping.abort(),
    kill() {
      for (const child of children) child.kill();
    },
  };
}

async function deathOf(child: Child): Promise<Outcome> {
  return { failed: `${await child.obituary()}\nNobody asked it to, so everything is stopped.` };
}

/** What a service starts with: a place for its data, and who ends its processes. */
function createContext({
  env,
  data,
  watch,
  stopping,
  output,
  children,
  onStop,
}: Pick<ServiceContext, "env" | "data" | "stopping" | "onStop"> & {
  watch: Awaited<ReturnType<typeof startParentWatch>>;
  output: Output;
  children: Set<Child>;
}): ServiceContext {
  const guard: ServiceContext["guard"] = ({ name, pid }) => {
    watch.remember(pid);
    data.remember({ name, pid });
    return () => watch.forget(pid);
  };
  return {
    env,
    data,
    addresses: {},
    stopping,
    say: output.say,
    childLine: output.childLine,
    adopt(child, { endWithinMs }) {
      const letGo = guard(child);
      children.add(child);
      onStop(async () => void (await child.stop({ withinMs: endWithinMs })));
      void child.ended.then(() => {
        letGo();
        children.delete(child);
      });
    },
    guard,
    onStop,
  };
}
