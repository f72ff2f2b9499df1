import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createImportGraph, type ImportGraph } from "./import-graph.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What git keeps or would keep, and what `deleted` names: a test may still name it. */
export function readRepository(deleted: readonly string[] = []): { graph: ImportGraph; tests: string[] } {
  const files = git("ls-files", "--cached", "--others", "--exclude-standard").filter((file) =>
    existsSync(join(root, file)),
  );
  const graph = createImportGraph({
    files: [...files, ...deleted],
    read: (file) => (existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : ""),
  });
  return { graph, tests: files.filter((file) => /^test\/.*\.test\.ts$/.test(file)) };
}

/** What differs from where this branch left `base`, in commits and in the work tree. @throws where there is no such base. */
export function changedFiles(base: string): string[] {
  const [from = base] = git("merge-base", base, "HEAD");
  const untracked = git("ls-files", "--others", "--exclude-standard");
  // Without renames, so that a file that was moved is there under both names.
  return [...new Set([...git("diff", "--name-only", "--no-renames", from), ...untracked])].toSorted();
}

function git(...args: string[]): string[] {
  const text = execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  return text.split("\n").filter((line) => line !== "");
}
