import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Test } from "tap";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

/** As long as no release has a tag, the first commit with this file is the version before: its processes look which version their data is of. */
const firstFile = "scripts/docs/reload-tables.ts";
const parts = [
  ..."gateway faucet api lib genesis scripts config test/fakes test/vectors package.json".split(" "),
];

export type PreviousVersion = {
  /** Where its files are. */
  folder: string;
  /** One of its files, as a URL. */
  file: (path: string) => URL;
};

/**
 * The previous version's source in a folder of the test, from the repository's history; it uses the packages that are installed. Undefined,
 * after `t.plan(0)` with the reason, where the clone has no history.
 */
export async function previousVersion(t: Test): Promise<PreviousVersion | undefined> {
  const previous = await findPrevious();
  if (previous === undefined) {
    t.plan(0, "this folder has no history with the version before: git fetch --unshallow --tags brings it");
    return undefined;
  }
  t.comment(`the version before is ${previous}`);
  const folder = await mkdtemp(join(tmpdir(), "tollgate-previous-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const archive = join(folder, "previous.tar");
  await saveArchive(previous, archive);
  await run("tar", ["-xf", archive, "-C", folder]);
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return { folder, file: (path) => pathToFileURL(join(folder, path)) };
}

/** The tag of the last release before this commit; before there is one, the first commit with `firstFile`. */
async function findPrevious(): Promise<string | undefined> {
  const git = async (...args: string[]) => {
    const { stdout } = await run("git", args, { cwd: root });
    return stdout.trim();
  };
  try {
    if ((await git("rev-parse", "--is-shallow-repository")) === "true") return undefined;
    const tag = await git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD^").catch(() => "");
    if (tag !== "") return tag;
    const added = await git("log", "--diff-filter=A", "--format=%H", "--", firstFile);
    return added.split("\n").at(-1) || undefined;
  } catch {
    return undefined;
  }
}

async function saveArchive(commit: string, file: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const child = execFile("git", ["archive", "--format=tar", commit, "--", ...parts], {
    cwd: root,
    encoding: "buffer",
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  child.stdout?.pipe(createWriteStream(file)).once("finish", resolve).once("error", reject);
  child.once("error", reject);
  await promise;
}
