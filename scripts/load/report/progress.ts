import { count, milliseconds, rate } from "./format.ts";

export type ProgressLook = {
  elapsedMs: number;
  wanted: { perSecond: number } | { clients: number };
  arrivalsPerSecond: number;
  p50: number;
  p99: number;
  failed: number;
  inFlight: number;
  queued: number;
};

const plainEverySeconds = 5;

/** One line that is written over on a terminal, or a line every five seconds elsewhere. Call `show` once a second. */
export function createProgress({
  write,
  isTerminal,
}: {
  write: (text: string) => void;
  isTerminal: boolean;
}) {
  let looks = 0;
  return {
    show(look: ProgressLook): void {
      looks += 1;
      if (isTerminal) write(`\r\x1b[2K${lineOf(look)}`);
      else if (looks % plainEverySeconds === 0) write(`${lineOf(look)}\n`);
    },
    /** Ends the line, before anything else is written. */
    end(): void {
      if (isTerminal && looks > 0) write("\r\x1b[2K");
    },
  };
}

function lineOf(look: ProgressLook): string {
  return [
    `${Math.round(look.elapsedMs / 1000)} s`,
    "clients" in look.wanted ? `clients ${look.wanted.clients}` : `wanted ${rate(look.wanted.perSecond)}`,
    `begun ${rate(look.arrivalsPerSecond)}`,
    `p50 ${milliseconds(look.p50)}`,
    `p99 ${milliseconds(look.p99)}`,
    `failed ${count(look.failed)}`,
    `in flight ${look.inFlight}`,
    `waiting ${look.queued}`,
  ].join("  ");
}
