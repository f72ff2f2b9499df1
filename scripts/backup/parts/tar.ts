import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";

/* The system's tar, which every Linux and macOS has: it knows all of a file's kinds and names, and streams. */

const wordsMax = 2_000;

export type TarProgram = {
  program: string;
  args: readonly string[];
  env?: Readonly<Record<string, string | undefined>>;
};

/** What stands in `folder`, as a tar stream that fails where tar does. `names`: only these. `without`: not these. */
export function packFolder(
  folder: string,
  { names = ["."], without = [] }: { names?: readonly string[]; without?: readonly string[] } = {},
): Readable {
  const [program = "", ...args] = packWords({ folder, names, without });
  return packBy({ program, args });
}

/** The command line by which tar packs a folder. */
export function packWords({
  folder,
  names = ["."],
  without = [],
}: {
  folder: string;
  names?: readonly string[];
  without?: readonly string[];
}): readonly string[] {
  const left = without.map((name) => `--exclude=${name}`);
  return ["tar", "--create", "--file=-", "-C", folder, ...left, "--", ...names];
}

/** What a tar writes, wherever it runs, as a stream that fails where it does. */
export function packBy(tar: TarProgram): Readable {
  const child = start(tar, ["ignore", "pipe", "pipe"]);
  const packed = new PassThrough();
  const ended = endOf(child);
  const out = child.stdout;
  if (out === null) throw new Error("tar has no output");
  pipeline(out, packed, { end: false })
    .then(() => ended)
    .then(
      () => packed.end(),
      (error: unknown) => packed.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  packed.once("close", () => child.kill());
  return packed;
}

/** Unpacks into a folder that is there, as files of the current user. tar itself refuses names that lead out of it. */
export async function unpackFolder(plain: Readable, folder: string): Promise<void> {
  const [program = "", ...args] = unpackWords(folder);
  await unpackBy({ program, args }, plain);
}

export function unpackWords(folder: string): readonly string[] {
  return ["tar", "--extract", "--file=-", "--no-same-owner", "--preserve-permissions", "-C", folder];
}

export async function unpackBy(tar: TarProgram, plain: Readable): Promise<void> {
  const child = start(tar, ["pipe", "ignore", "pipe"]);
  const ended = endOf(child);
  const input = child.stdin;
  if (input === null) throw new Error("tar has no input");
  // tar ends by itself at the archive's end marker, which can come before the stream's end. Why it ended else, its words say.
  const closed = new Promise<void>((resolve) => input.once("close", resolve));
  input.on("error", () => {});
  try {
    for await (const piece of plain) {
      if (!input.writable) await ended;
      else if (!input.write(piece)) await Promise.race([drained(input), closed]);
    }
  } catch (error) {
    child.kill();
    throw error;
  }
  input.end();
  await ended;
}

function drained(input: Writable): Promise<void> {
  return new Promise((resolve) => input.once("drain", resolve));
}

/** In a group of its own: a terminal's Ctrl-C reaches us alone, and what is under way is ended in order. */
function start({ program, args, env = process.env }: TarProgram, stdio: StdioOptions): ChildProcess {
  return spawn(program, args, { stdio, env: { ...env }, detached: true });
}

function endOf(child: ChildProcess): Promise<void> {
  let words = "";
  child.stderr?.on("data", (piece: Buffer) => {
    words = (words + piece.toString()).slice(-wordsMax);
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once("error", (error) => reject(new Error(`tar: ${error.message}`)));
    child.once("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(words.trim() || `tar ended with ${code ?? signal}`));
    });
  });
  // Whoever waits for the streams asks for it later.
  ended.catch(() => {});
  return ended;
}
