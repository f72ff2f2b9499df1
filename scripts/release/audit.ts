import { execFile } from "node:child_process";
import { z } from "zod";
import { CommandError } from "../../lib/cli/command.ts";
import type { ReleaseCommand } from "./command.ts";

/** Of what `npm audit --json` says, the part that is told on. */
const reportSchema = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({
      severity: z.enum(["info", "low", "moderate", "high", "critical"]),
      range: z.string(),
      via: z.array(z.union([z.string(), z.object({ title: z.string(), url: z.string() })])),
    }),
  ),
});
const failureSchema = z.object({ message: z.string() });

export type Audit =
  | { asked: true; grave: readonly string[]; light: readonly string[] }
  /** Nobody knows whether something is wrong. */
  | { asked: false; why: string };

/** Asks the registry for known vulnerabilities of all packages of package-lock.json. `grave` are high and critical ones. */
export function auditPackages({
  root,
  env,
}: {
  root: string;
  env: Readonly<Record<string, string | undefined>>;
}): Promise<Audit> {
  return new Promise((resolve) => {
    const options = { cwd: root, env: { ...env }, maxBuffer: 64 * 1024 * 1024, timeout: 120_000 };
    // Its exit code is 1 for findings and for failures alike; what it says tells them apart.
    execFile("npm", ["audit", "--json", "--package-lock-only"], options, (error, stdout) =>
      resolve(readAudit(stdout, error?.message)),
    );
  });
}

function readAudit(stdout: string, failure = "npm audit said nothing"): Audit {
  let said: unknown;
  try {
    said = JSON.parse(stdout);
  } catch {
    return { asked: false, why: failure };
  }
  const report = reportSchema.safeParse(said);
  if (!report.success) {
    const told = failureSchema.safeParse(said);
    return { asked: false, why: told.success ? told.data.message : failure };
  }
  const grave: string[] = [];
  const light: string[] = [];
  for (const [name, { severity, range, via }] of Object.entries(report.data.vulnerabilities)) {
    const reasons = via.map((each) =>
      typeof each === "string" ? `by ${each}` : `${each.title}, ${each.url}`,
    );
    const list = severity === "high" || severity === "critical" ? grave : light;
    list.push(`${`${name} ${range}`.trim()}: ${severity}: ${reasons.join("; ")}`);
  }
  return { asked: true, grave, light };
}

export const auditCommand: ReleaseCommand = {
  name: "audit",
  positionals: [],
  summary: "Asks the registry for known vulnerabilities of all packages; high and critical ones are refused.",
  details: ["Ends with 1 also where the registry could not be asked, and says so: nothing is known then."],
  options: {},
  examples: ["audit"],
  async run({ root, env, print, note }) {
    const audit = await auditPackages({ root, env });
    if (!audit.asked) {
      throw new CommandError(`NOT AUDITED: the registry could not be asked: ${audit.why}`, { exitCode: 1 });
    }
    for (const line of audit.light) note(line);
    if (audit.grave.length > 0) throw new CommandError(audit.grave.join("\n"), { exitCode: 1 });
    print(
      `No package has a high or critical vulnerability that is known (${audit.light.length} lesser ones).`,
    );
  },
};
