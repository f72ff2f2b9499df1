import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type FromPart, type PartLook, readFromPart, type ToPart } from "./messages.ts";

export type PartProcess = {
  pid: number | undefined;
  /** It listens; false where it ended before. */
  ready: Promise<boolean>;
  say(message: ToPart): void;
  /** The next message of a kind; undefined where it ended before. */
  hear<Kind extends FromPart["kind"]>(
    ...kinds: Kind[]
  ): Promise<Extract<FromPart, { kind: Kind }> | undefined>;
  look(): PartLook | undefined;
  /** How it ended, once it has. */
  ended: Promise<string>;
  kill(): void;
};

const program = fileURLToPath(new URL("part-main.ts", import.meta.url));

/** Starts a process that runs a part. What it says of the preparations goes to `say`. */
export function startPartProcess({ say }: { say: (text: string) => void }): PartProcess {
  const child = fork(program, {
    execArgv: ["--disable-warning=ExperimentalWarning"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  let lastLook: PartLook | undefined;
  const waiting = new Set<(message: FromPart | undefined) => void>();
  const ready = Promise.withResolvers<boolean>();
  const ended = Promise.withResolvers<string>();
  let hasEnded = false;

  child.on("message", (raw) => {
    const message = readFromPart(raw);
    if (message.kind === "hello") ready.resolve(true);
    else if (message.kind === "said") say(message.text);
    else if (message.kind === "look") lastLook = message.look;
    else for (const hear of waiting) hear(message);
  });
  const end = (how: string) => {
    hasEnded = true;
    ready.resolve(false);
    ended.resolve(how);
    for (const hear of waiting) hear(undefined);
  };
  child.once("error", ({ message }) => end(message));
  child.once("exit", (code, signal) => end(signal === null ? `exit code ${code}` : signal));

  return {
    pid: child.pid,
    ready: ready.promise,
    say: (message) => void (child.connected && child.send(message, () => {})),
    hear(...kinds) {
      type Wanted = Extract<FromPart, { kind: (typeof kinds)[number] }>;
      const isWanted = (message: FromPart): message is Wanted => kinds.some((kind) => kind === message.kind);
      return new Promise((resolve) => {
        const hear = (message: FromPart | undefined) => {
          if (message !== undefined && !isWanted(message)) return;
          waiting.delete(hear);
          resolve(message);
        };
        if (hasEnded) resolve(undefined);
        else waiting.add(hear);
      });
    },
    look: () => lastLook,
    ended: ended.promise,
    kill: () => void child.kill("SIGKILL"),
  };
}
