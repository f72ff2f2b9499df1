import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { CommandError } from "../../lib/cli/command.ts";
import type { ReleaseCommand } from "./command.ts";
import { releaseChangelog } from "./version/changelog.ts";
import { nextVersion } from "./version/next-version.ts";
import { withVersion } from "./version/version-files.ts";

const manifestSchema = z.object({ version: z.string() });

export const versionCommand: ReleaseCommand = {
  name: "version",
  positionals: ["VERSION"],
  summary:
    "Makes a version: patch, minor, major or X.Y.Z. Changelog, package files and chart, a commit and a tag.",
  details: [
    'What stands under "Unreleased" in CHANGELOG.md becomes the version\'s chapter. Asks for a clean work tree on main, and',
    "pushes nothing: CI tests the commit before its tag goes out (docs/releasing.md).",
  ],
  options: { "dry-run": { text: "say what would be done, and change nothing" } },
  examples: ["version minor --dry-run", "version minor", "version 1.0.0"],
  async run({ root, now, positionals, values, print }) {
    const git = async (...args: string[]) =>
      (await promisify(execFile)("git", args, { cwd: root })).stdout.trim();
    const { version: current } = manifestSchema.parse(
      JSON.parse(readFileSync(join(root, "package.json"), "utf8")),
    );
    const next = nextVersion(current, positionals[0] ?? "");
    if ("wrong" in next) throw new CommandError(next.wrong, { exitCode: 2 });
    const { version } = next;
    const tag = `v${version}`;
    await checkRepository(git, tag);
    const day = now().toISOString().slice(0, 10);
    const changelog = releaseChangelog(readFileSync(join(root, "CHANGELOG.md"), "utf8"), { version, day });
    if ("wrong" in changelog) throw new CommandError(changelog.wrong, { exitCode: 1 });
    const files = withVersion(root, version).set("CHANGELOG.md", changelog.text);
    print(`${current} → ${version}: ${[...files.keys()].join(", ")}, tag ${tag}`);
    if (values["dry-run"] === true) {
      print(`\n## ${version} - ${day}\n\n${changelog.notes}\n\nNothing was changed.`);
      return;
    }
    const names = [...files.keys()];
    try {
      for (const [name, text] of files) writeFileSync(join(root, name), text);
      await git("commit", "--quiet", "--message", `Release ${version}`, "--", ...names);
    } catch (error) {
      await git("checkout", "--quiet", "HEAD", "--", ...names);
      throw new CommandError(
        `Nothing was changed: ${error instanceof Error ? error.message : String(error)}`,
        {
          exitCode: 1,
        },
      );
    }
    await git(
      "tag",
      "--annotate",
      tag,
      "--message",
      `Tollgate ${version}\n\n${changelog.notes}`,
      "--cleanup=verbatim",
    );
    print(`Committed and tagged. When CI has passed: git push origin main ${tag}`);
  },
};

/** @throws CommandError that says what to do first. */
async function checkRepository(git: (...args: string[]) => Promise<string>, tag: string): Promise<void> {
  const refuse = (text: string) => {
    throw new CommandError(text, { exitCode: 1 });
  };
  const branch = await git("rev-parse", "--abbrev-ref", "HEAD");
  if (branch !== "main") refuse(`Versions are made on main, and this is ${branch}: git switch main`);
  const changed = await git("status", "--porcelain");
  if (changed !== "")
    refuse(`The work tree has changes: commit them first, or git stash --include-untracked\n${changed}`);
  if ((await git("tag", "--list", tag)) !== "") refuse(`There is a tag ${tag} already.`);
}
