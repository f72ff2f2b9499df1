import { spawn } from "node:child_process";
import { PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/* The system's tar, which every Linux and macOS has: it knows all of a file's kinds and names, and streams. */

const wordsMax = 2_000;

/** What stands in `folder`, as a tar stream that fails where tar does. `names`: only these. */
export function packFolder(folder: string, names: readonly string[] = ["."]): Readable {
  const child = spawn("tar", ["--create", "--file=-", "-C", folder, "--", ...names], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const packed = new PassThrough();
  const ended = endOf(child);
  pipeline(child.stdout, packed, { end: false })
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
  const child = spawn(
    "tar",
    ["--extract", "--file=-", "--no-same-owner", "--preserve-permissions", "-C", folder],
    {
      stdio: ["pipe", "ignore", "pipe"],
    },
  );
  const ended = endOf(child);
  try {
    await pipeline(plain, child.stdin);
  } catch (error) {
    child.kill();
    // Where tar has ended first, its words say why.
    await ended.catch((why: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "EPIPE") throw why;
    });
    throw error;
  }
  await ended;
}

function endOf(child: ReturnType<typeof spawn>): Promise<void> {
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
