import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { CommandError } from "../../../lib/cli/command.ts";
import { writeFiles } from "../validators/write-files.ts";
import { versionPattern } from "./kept-config.ts";

export const versionsFile = "versions.json";

/** What runs, by what `upgrade` has done. A version is an image, or the folder of an unpacked Besu. */
export type Track = z.output<typeof trackSchema>;
export type Versions = z.output<typeof versionsSchema>;
export type TrackName = keyof Versions;

const trackSchema = z.strictObject({
  /** What all of them run unless `on` names another; absent: what the environment says. */
  use: z.string().min(1).optional(),
  /** Those that run another one. */
  on: z.record(z.string(), z.string().min(1)).default({}),
  /** Those of ours that do not read config/, but the files that are kept of a version (kept-config.ts): which one. */
  config: z.record(z.string(), z.string().regex(versionPattern)).optional(),
  /** The upgrade that is under way. */
  next: z
    .strictObject({
      to: z.string().min(1),
      /** Those that run it and were found to do well. */
      done: z.array(z.string()).default([]),
      /** The one that is changed now, and what it ran before; null: what the environment says. `config`: the version whose files it then reads. */
      underway: z
        .strictObject({ name: z.string(), before: z.string().nullable(), config: z.string().optional() })
        .optional(),
    })
    .optional(),
});
const none: Track = { on: {} };
const versionsSchema = z.strictObject({
  /** Of validators in containers. */
  besuImage: trackSchema.default(none),
  /** Of validators as processes of this machine. */
  besuHome: trackSchema.default(none),
  /** Of our own processes in containers. */
  image: trackSchema.default(none),
});

/** What a node or service runs; undefined: what the environment says. */
export function versionFor(track: Track, name: string): string | undefined {
  return track.on[name] ?? track.use;
}

/** @throws CommandError where the file of the network's folder cannot be used. */
export async function readVersions(folder: string): Promise<Versions> {
  const file = join(folder, versionsFile);
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return { besuImage: none, besuHome: none, image: none };
  try {
    return versionsSchema.parse(JSON.parse(text));
  } catch {
    throw new CommandError(
      `${file} cannot be read. It says what upgrade has each node run: put it right, or remove it and every node runs what the environment says.`,
      { exitCode: 1 },
    );
  }
}

/** Changes one track of the file, whole or not at all. @returns the track as it is now. */
export async function changeTrack(
  folder: string,
  name: TrackName,
  change: (track: Track) => Track,
): Promise<Track> {
  const before = await readVersions(folder);
  const track = change(before[name]);
  const content = `${JSON.stringify({ ...before, [name]: track }, null, 2)}\n`;
  await writeFiles(folder, [{ path: versionsFile, content }]);
  return track;
}

/** The track with one of its nodes on another version; undefined: on what all others run. */
export function withVersion(track: Track, name: string, version: string | undefined): Track {
  const { [name]: _before, ...others } = track.on;
  return { ...track, on: version === undefined ? others : { ...others, [name]: version } };
}

/** The track with one of ours on the kept files of a version; undefined: on config/. */
export function withConfig(track: Track, name: string, version: string | undefined): Track {
  const { [name]: _before, ...others } = track.config ?? {};
  return configured(track, version === undefined ? others : { ...others, [name]: version });
}

/** The track where all run the same. */
export function wholeTrack({ config }: Track, to: string): Track {
  return configured({ use: to, on: {} }, config ?? {});
}

function configured({ config: _before, ...track }: Track, config: Readonly<Record<string, string>>): Track {
  return Object.keys(config).length === 0 ? track : { ...track, config };
}
