import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { CommandError } from "../../lib/cli/command.ts";
import { findProgram } from "../processes/find-program.ts";
import type { ReleaseCommand } from "./command.ts";

const run = promisify(execFile);
/** Of a report of gitleaks; the secret itself is redacted. */
const findingsSchema = z.array(
  z.object({ RuleID: z.string(), File: z.string(), StartLine: z.number(), Commit: z.string() }),
);

export type Environment = Readonly<Record<string, string | undefined>>;

export const secretsCommand: ReleaseCommand = {
  name: "secrets",
  positionals: [],
  summary: "Looks for secrets in all files that git has or would take, and in the whole history.",
  details: [
    "With gitleaks and the rules of .gitleaks.toml; sh test/scripts/release/prepare.sh installs it. What it finds is told by file",
    "and line, never shown. A secret that was committed is revoked first (docs/secret-scanning.md).",
  ],
  options: {},
  examples: ["secrets"],
  async run({ root, env, print }) {
    const gitleaks = await findGitleaks(env);
    if (gitleaks === undefined) {
      throw new CommandError("gitleaks is not there: sh test/scripts/release/prepare.sh installs it.", {
        exitCode: 1,
      });
    }
    const found = await findSecrets({ root, gitleaks });
    if (found.length > 0) {
      throw new CommandError(
        `${found.length} secrets were found; revoke them first:\n  ${found.join("\n  ")}`,
        {
          exitCode: 1,
        },
      );
    }
    print("No secret is in the files or in the history.");
  },
};

/** The program, on the PATH or where prepare.sh puts it. */
export function findGitleaks(env: Environment): Promise<string | undefined> {
  const cache = env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const path = [env["PATH"] ?? "", join(cache, "tollgate/release-tools-1/bin")].join(delimiter);
  return findProgram({ names: ["gitleaks"], path });
}

/**
 * What looks like a secret in a repository: in its files, changed ones and new ones among them, and in each commit of each branch.
 * @returns a line each: where, and by which rule.
 * @throws where the history is not all there, or gitleaks fails.
 */
export async function findSecrets({ root, gitleaks }: { root: string; gitleaks: string }): Promise<string[]> {
  const git = async (...args: string[]) =>
    (await run("git", args, { cwd: root, maxBuffer: 64 * 1024 * 1024 })).stdout;
  if ((await git("rev-parse", "--is-shallow-repository")).trim() === "true") {
    throw new CommandError("This clone has not the whole history: git fetch --unshallow", { exitCode: 1 });
  }
  const folder = mkdtempSync(join(tmpdir(), "tollgate-secrets-"));
  try {
    const tree = join(folder, "tree");
    mkdirSync(tree);
    const files = (await git("ls-files", "--cached", "--others", "--exclude-standard", "-z")).split("\0");
    for (const file of files.filter((name) => name !== "" && existsSync(join(root, name)))) {
      mkdirSync(dirname(join(tree, file)), { recursive: true });
      cpSync(join(root, file), join(tree, file));
    }
    const scan = async (name: string, ...args: string[]) => {
      const report = join(folder, `${name}.json`);
      const bounds = [
        "--no-banner",
        "--redact",
        "--exit-code=0",
        "--report-format=json",
        `--report-path=${report}`,
      ];
      await run(gitleaks, [...args, `--config=${join(root, ".gitleaks.toml")}`, ...bounds]);
      return findingsSchema.parse(JSON.parse(readFileSync(report, "utf8")));
    };
    const inFiles = await scan("files", "dir", tree);
    const inHistory = await scan("history", "git", root, "--log-opts=--all --full-history");
    return [
      ...inFiles.map(
        ({ RuleID, File, StartLine }) => `${File.slice(tree.length + 1)}:${StartLine} (${RuleID})`,
      ),
      ...inHistory.map(
        ({ RuleID, File, StartLine, Commit }) => `${Commit.slice(0, 12)} ${File}:${StartLine} (${RuleID})`,
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
