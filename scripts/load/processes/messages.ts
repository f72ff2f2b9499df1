import { z } from "zod";
import type { LeftOut, Look } from "../fleet.ts";
import type { Sends } from "../mix/settle-senders.ts";
import type { RecordedPart } from "../record/recorder.ts";
import type { SelfUse } from "../record/self-watch.ts";
import type { SliceText } from "../record/series.ts";
import type { TalliesText } from "../record/tallies.ts";
import type { RunSetup } from "../run-setup.ts";

/** To a process that runs a part. */
export type ToPart =
  | { kind: "prepare"; setup: RunSetup; wantsTallies: boolean }
  | { kind: "warm up" }
  /** `atMs`: milliseconds since 1970, the same for all parts. */
  | { kind: "begin"; atMs: number }
  | { kind: "end" };

export type PartLook = Omit<Look, "second"> & { second: SliceText; tallies: TalliesText | undefined };

/** From a process that runs a part. */
export type FromPart =
  | { kind: "hello" }
  | { kind: "said"; text: string }
  | { kind: "prepared" }
  | { kind: "refused"; reason: string }
  | { kind: "warm" }
  | { kind: "look"; look: PartLook }
  | {
      kind: "result";
      part: RecordedPart;
      durationMs: number;
      self: SelfUse;
      sends: Sends | undefined;
      leftOut: LeftOut;
    };

const hasKind = (raw: unknown) => typeof raw === "object" && raw !== null && "kind" in raw;
const toPart = z.custom<ToPart>(hasKind);
const fromPart = z.custom<FromPart>(hasKind);

/** Both ends are of one program, and nobody else can write to their channel. @throws ZodError for anything else. */
export function readToPart(raw: unknown): ToPart {
  return toPart.parse(raw);
}

export function readFromPart(raw: unknown): FromPart {
  return fromPart.parse(raw);
}
