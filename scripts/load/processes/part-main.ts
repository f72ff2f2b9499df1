import { setTimeout as sleep } from "node:timers/promises";
import { GatewayError } from "../http/ask-gateway.ts";
import { createLocalFleet, type LocalFleet } from "../local-fleet.ts";
import { type FromPart, readToPart, type ToPart } from "./messages.ts";

/** A process that runs one part of a load; the process that started it says when. */
const lookEveryMs = 1_000;
let fleet: LocalFleet | undefined;
let wantsTallies = false;

const send = (message: FromPart) => void process.send?.(message);

async function prepare({ setup, wantsTallies: wants }: ToPart & { kind: "prepare" }): Promise<void> {
  wantsTallies = wants;
  try {
    fleet = await createLocalFleet({ setup, say: (text) => send({ kind: "said", text }) });
    await fleet.prepareOnly();
    send({ kind: "prepared" });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    send({ kind: "refused", reason: error.message });
  }
}

async function run(local: LocalFleet, atMs: number): Promise<void> {
  await sleep(Math.max(0, atMs - Date.now()));
  const looking = setInterval(() => {
    const recorder = local.recorder();
    const second = recorder.lastSecondText();
    const look = local.look();
    if (second === undefined || look === undefined) return;
    const tallies = wantsTallies ? recorder.talliesText() : undefined;
    send({ kind: "look", look: { ...look, second, tallies } });
  }, lookEveryMs);
  const { durationMs, self, leftOut, sends } = await local.run();
  clearInterval(looking);
  send({ kind: "result", part: local.part(), durationMs, self, leftOut, sends });
}

async function hear(message: ToPart): Promise<void> {
  if (message.kind === "prepare") await prepare(message);
  else if (message.kind === "end") fleet?.end();
  else if (fleet === undefined) throw new Error(`"${message.kind}" came before "prepare"`);
  else if (message.kind === "warm up") {
    await fleet.warmUp();
    send({ kind: "warm" });
  } else await run(fleet, message.atMs);
}

process.on("message", (raw) => void hear(readToPart(raw)));
// Nobody is left to tell of what is measured, and the load must not outlive who started it.
process.once("disconnect", () => process.exit(0));
// A terminal sends them to all processes at once; who started this one decides what they mean.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
send({ kind: "hello" });
