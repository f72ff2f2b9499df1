import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export type CrashReplica = {
  /** Where it serves at the moment; `undefined` while it is down. */
  url(): string | undefined;
  /** Kills it with SIGKILL at any moment; it starts again. */
  kill(): void;
  stop(): Promise<void>;
};

/**
 * One process that restarts whenever it ends; `nextPoint` says at which point it ends itself next. It is told so by
 * `CRASH_AT`, reads its configuration from `CRASH_CONFIG`, and says `{"crashMainPort":PORT}` once it serves.
 */
export function runCrashReplica({
  main,
  configFile,
  env = {},
  mayFailToStart = false,
  cacheFolder,
  nextPoint,
  onPoint,
}: {
  /** Its program. */
  main: URL;
  configFile: string;
  env?: Readonly<Record<string, string>>;
  /** It ends with 1 where what it needs goes while it starts; whoever runs it starts it again. */
  mayFailToStart?: boolean;
  /** Node's compile cache, so that starts are quick. */
  cacheFolder: string;
  /** `point:n`, or empty for none. */
  nextPoint: () => string;
  /** Called when it has ended itself at this point. */
  onPoint: (point: string) => void;
}): CrashReplica {
  let child: ChildProcess | undefined;
  let url: string | undefined;
  let isStopped = false;
  let isKilled = false;

  async function run(): Promise<void> {
    while (!isStopped) {
      const point = nextPoint();
      isKilled = false;
      child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", fileURLToPath(main)], {
        env: {
          ...env,
          PATH: process.env["PATH"],
          // Of npm test: types are stripped once.
          NODE_OPTIONS: process.env["NODE_OPTIONS"],
          NODE_COMPILE_CACHE: cacheFolder,
          CRASH_CONFIG: configFile,
          CRASH_AT: point,
        },
        stdio: ["ignore", "pipe", "inherit"],
      });
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        const port = /"crashMainPort":(\d+)/.exec(text)?.[1];
        if (port !== undefined) url = `http://127.0.0.1:${port}`;
      });
      const [code, signal] = await once(child, "exit");
      const hasServed = url !== undefined;
      url = undefined;
      if (isStopped) return;
      if (mayFailToStart && code === 1 && !hasServed) continue;
      if (!isKilled) onPoint(point);
      if (signal !== "SIGKILL") throw new Error(`a replica ended by itself with ${code ?? signal}`);
    }
  }

  const ended = run();
  return {
    url: () => url,
    kill() {
      isKilled = true;
      child?.kill("SIGKILL");
    },
    async stop() {
      isStopped = true;
      child?.kill("SIGKILL");
      await ended;
    },
  };
}
