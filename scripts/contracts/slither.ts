import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { CommandError } from "../../lib/cli/command.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import { findProgram } from "../processes/find-program.ts";
import type { ContractsCommand } from "./command.ts";
import { repositoryFolder } from "./forge.ts";

const folder = "genesis/contracts";
const triageFile = "slither.json";

export const slitherCommand: ContractsCommand = {
  name: "slither",
  positionals: [],
  summary: "Lets slither look at the contracts; what it finds beyond genesis/contracts/slither.json fails.",
  details: [
    "slither is Python's: pip install slither-analyzer==0.11.6. What was looked at stands in the file, with why it is meant.",
  ],
  options: {},
  examples: ["slither"],
  async run({ env, print, note }) {
    const program = await findProgram({ names: ["slither"], path: env["PATH"] });
    if (program === undefined) {
      note("There is no slither in the PATH: pip install slither-analyzer==0.11.6");
      return exitCodes.failed;
    }
    const known = triage.parse(
      JSON.parse(await readFile(resolve(repositoryFolder, folder, triageFile), "utf8")),
    );
    const found = await findingsOf(program);
    const isKnown = (finding: Finding) =>
      known.some(({ check, where }) => check === finding.check && where === finding.where);
    const fresh = found.filter((finding) => !isKnown(finding));
    const gone = known.filter(
      ({ check, where }) => !found.some((finding) => finding.check === check && finding.where === where),
    );
    for (const { check, where, text } of fresh) note(`NEW   ${check}: ${where}\n${text}`);
    for (const { check, where } of gone) note(`GONE  ${check}: ${where} (take it out of ${triageFile})`);
    if (fresh.length + gone.length > 0) return exitCodes.failed;
    print(`slither finds what was looked at, ${known.length} places, and nothing else.`);
    return exitCodes.done;
  },
};

type Finding = { check: string; where: string; text: string };

/** What slither says of our sources; what it says of the library alone is the library's. */
async function findingsOf(program: string): Promise<Finding[]> {
  const place = await mkdtemp(join(tmpdir(), "tollgate-slither-"));
  const report = join(place, "report.json");
  try {
    const said = await run(program, report);
    const text = await readFile(report, "utf8").catch(() => "{}");
    const read = reportSchema.safeParse(JSON.parse(text));
    if (!read.success || !read.data.success) {
      throw new CommandError(`slither did not come to looking:\n${said}`, { exitCode: 1 });
    }
    const findings = read.data.results.detectors.flatMap(({ check, description, elements }) => {
      const own = elements.find(({ source_mapping: { filename_relative: file } }) =>
        file.startsWith(`${folder}/`),
      );
      const [first] = elements;
      if (own === undefined || own !== first) return [];
      return [{ check, where: own.name, text: description.trim() }];
    });
    return [...new Map(findings.map((finding) => [`${finding.check} ${finding.where}`, finding])).values()];
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** It ends with another code than 0 wherever it finds something. */
async function run(program: string, report: string): Promise<string> {
  const args = [
    folder,
    ...["--solc", resolve(repositoryFolder, "scripts/contracts/solc.js"), "--solc-standard-json"],
    ...["--solc-remaps", "@openzeppelin/=node_modules/@openzeppelin/", "--solc-disable-warnings"],
    ...["--json", report],
  ];
  return await new Promise((done) => {
    execFile(program, args, { cwd: repositoryFolder }, (_error, stdout, stderr) =>
      done(`${stdout}${stderr}`),
    );
  });
}

const triage = z.array(z.strictObject({ check: z.string(), where: z.string(), why: z.string() }));

const reportSchema = z.object({
  success: z.boolean(),
  results: z.object({
    detectors: z
      .array(
        z.object({
          check: z.string(),
          description: z.string(),
          elements: z.array(
            z.object({
              name: z.string(),
              source_mapping: z.object({ filename_relative: z.string() }),
            }),
          ),
        }),
      )
      .default([]),
  }),
});
