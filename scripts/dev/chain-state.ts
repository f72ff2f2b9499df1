import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";

export type LoadedState =
  | { kind: "new" }
  | { kind: "resumed"; file: string }
  | { kind: "unreadable"; text: string };

export type ChainState = {
  /** Unpacks the last good state for anvil's `--load-state`. */
  load(): Promise<LoadedState>;
  /** Removes the file that `load` has unpacked, once anvil has read it. */
  dropLoaded(): Promise<void>;
  /** Keeps a state: the answer of `anvil_dumpState`, hex digits of a gzip file. */
  save(dump: string): Promise<void>;
};

/**
 * The dev chain on disk. anvil's own `--state` rewrites its only file, so a crash can cut it, and anvil does not start
 * with a cut file. Here a new state is written beside the last one and renamed into place, and the one before stays.
 * gzip's checksum shows whether a file is whole.
 */
export function createChainState({
  folder,
  say,
  now = () => new Date(),
}: {
  folder: string;
  say: (text: string) => void;
  now?: () => Date;
}): ChainState {
  const [current, previous] = [join(folder, "state.json.gz"), join(folder, "state.previous.json.gz")];
  const loaded = join(folder, "loaded.json");

  async function setAside({ file, why }: { file: string; why: string }): Promise<string> {
    const aside = file.replace(/\.json\.gz$/, `.broken-${now().toISOString().replaceAll(":", "-")}.json.gz`);
    await rename(file, aside);
    say(`The saved chain ${file} cannot be read (${why}). It is kept as ${aside}.`);
    return aside;
  }

  return {
    async load() {
      const broken: string[] = [];
      for (const file of [current, previous]) {
        const outcome = await unpack({ file, into: loaded });
        if (outcome === "whole") {
          if (file === previous) say("The chain resumes from the state before, some seconds older.");
          return { kind: "resumed", file: loaded };
        }
        if (outcome !== "missing") broken.push(await setAside({ file, why: outcome.why }));
      }
      if (broken.length === 0) return { kind: "new" };
      return {
        kind: "unreadable",
        text:
          "No saved state of the dev chain can be read, so it cannot be resumed. To begin anew, chain and Redis, type\n\n" +
          `  npm start -- --reset\n\nThat removes ${folder}, so copy ${broken.join(" and ")} first if you need it.`,
      };
    },

    dropLoaded: () => rm(loaded, { force: true }),

    async save(dump) {
      if (!/^0x1f8b/.test(dump)) throw new Error("anvil's state is not a gzip file");
      const written = `${current}.new`;
      const file = await open(written, "w");
      try {
        await file.writeFile(Buffer.from(dump.slice(2), "hex"));
        // Without it a power cut can leave an empty file under the new name.
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(current, previous).catch(ignoreMissing);
      await rename(written, current);
    },
  };
}

async function unpack({
  file,
  into,
}: {
  file: string;
  into: string;
}): Promise<"whole" | "missing" | { why: string }> {
  const size = await stat(file).then(
    (found) => found.size,
    () => undefined,
  );
  if (size === undefined) return "missing";
  // A gunzip stream takes an empty input for a whole file of no bytes.
  if (size === 0) return { why: "it is empty" };
  try {
    await pipeline(createReadStream(file), createGunzip(), createWriteStream(into));
    return "whole";
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
}
