import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findProgram } from "../../processes/find-program.ts";
import type { Contestant } from "./contestant.ts";

export type Programs = {
  /** Absolute paths, by name. */
  found: Readonly<Record<string, string>>;
  /** Missing programs, each with how to install it. */
  missing: readonly { name: string; advice: string }[];
};

/** No measurement works without these. */
const needed = [
  { name: "wrk", debianPackage: "wrk" },
  { name: "redis-server", debianPackage: "redis-server" },
  { name: "taskset", debianPackage: "util-linux" },
];

/** Debian keeps servers where a user's PATH does not look. */
const serverFolder = "/usr/sbin";

/** Looks for the programs of the bench and of these contestants. */
export async function findPrograms({
  contestants,
  path,
}: {
  contestants: readonly Contestant[];
  path: string | undefined;
}): Promise<Programs> {
  const wanted = [
    ...needed,
    ...contestants.flatMap(({ program }) => (program === undefined ? [] : [program])),
  ];
  const found: Record<string, string> = {};
  const missing: { name: string; advice: string }[] = [];
  for (const { name, debianPackage } of wanted) {
    const program = await findProgram({ names: [name], path: `${path ?? ""}:${serverFolder}` });
    if (program === undefined) {
      missing.push({ name, advice: `${name} is not installed: apt-get install ${debianPackage}` });
    } else found[name] = program;
  }
  return { found, missing };
}

/** Why no measurement is possible; empty where it is. */
export function missingForAll({ missing }: Programs): string[] {
  const names = new Set(needed.map(({ name }) => name));
  return missing.filter(({ name }) => names.has(name)).map(({ advice }) => advice);
}

/** The version of a contestant's program, or of Node for those that run on it. */
export async function versionOf({ program }: Contestant, found: Programs["found"]): Promise<string> {
  if (program === undefined) return `Node ${process.version}`;
  const { stdout, stderr } = await promisify(execFile)(found[program.name] ?? "", [program.versionFlag]);
  return /\d+(\.\d+)+/.exec(stdout + stderr)?.[0] ?? "unknown";
}

/** A program of the bench is missing; `problems` say how to install it. */
export class MissingProgramsError extends Error {
  override readonly name = "MissingProgramsError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}
