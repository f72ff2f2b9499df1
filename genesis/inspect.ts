import { readFile } from "node:fs/promises";
import { CommandError } from "../lib/cli/command.ts";
import { count, fields, json, table } from "../lib/cli/format.ts";
import { formatTokens } from "../lib/config/token-amount.ts";
import type { GenesisCommand } from "./command.ts";
import { type Inspection, inspectGenesis } from "./inspect/inspect-genesis.ts";

export const inspectCommand: GenesisCommand = {
  name: "inspect",
  positionals: ["FILE"],
  summary: "Reads a genesis.json of IBFT 2.0 or QBFT and names what is wrong with it.",
  details: ["Exits with 0 where nothing is wrong (remarks may be intended), 1 where something is."],
  options: {},
  examples: ["inspect network/genesis.json", "inspect genesis.json --json"],
  async run({ positionals: [file = ""], values, now, print }) {
    const inspected = inspectGenesis(await readText(file), { now });
    if ("problem" in inspected) throw new CommandError(`${file}: ${inspected.problem}`, { exitCode: 1 });
    const { inspection } = inspected;
    print(values["json"] === true ? json(toJson(inspection)) : report(inspection));
    return inspection.findings.some(({ kind }) => kind === "problem") ? 1 : 0;
  },
};

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new CommandError(`${file} cannot be read (${why}).`, { exitCode: 2 });
  }
}

function toJson({ findings, gasLimit, accounts, ...rest }: Inspection) {
  const texts = (kind: string) => findings.filter((finding) => finding.kind === kind).map(({ text }) => text);
  return {
    ...rest,
    gasLimit: gasLimit === undefined ? undefined : String(gasLimit),
    accounts: accounts.map((account) => ({ ...account, balanceWei: String(account.balanceWei) })),
    problems: texts("problem"),
    remarks: texts("remark"),
  };
}

function report(inspection: Inspection): string {
  const { validators, accounts, findings } = inspection;
  return [
    fields(facts(inspection)),
    "",
    "Validators of block 0; votes change them since (npm run network -- validator list):",
    ...(validators.length === 0 ? ["  none that can be read"] : validators.map((address) => `  ${address}`)),
    "",
    ...(accounts.length === 0 ? [] : [accountTable(accounts), ""]),
    ...findings.map(({ kind, text }) => `${kind === "problem" ? "PROBLEM" : "remark "}  ${text}`),
    verdict(findings.filter(({ kind }) => kind === "problem").length),
  ].join("\n");
}

function facts(inspection: Inspection): (readonly [string, string])[] {
  const { consensus, chainId, validators, quorum, round, forks, gasLimit } = inspection;
  const seconds = (value: number | undefined) => (value === undefined ? "unknown" : `${value} s`);
  const spare = validators.length - (quorum ?? 0);
  return [
    ["consensus", consensus === undefined ? "unknown" : consensus === "ibft2" ? "IBFT 2.0" : "QBFT"],
    ["chain ID", chainId === undefined ? "unknown" : `${chainId} (0x${chainId.toString(16)})`],
    ["genesis hash", inspection.genesisHash ?? "not computed: its rules are of another kind than ours"],
    [
      "quorum",
      quorum === undefined ? "unknown" : `${quorum} of ${validators.length}: ${spare || "none"} may be down`,
    ],
    ["round", round === undefined ? "unknown" : String(round)],
    [
      "blocks",
      `every ${seconds(inspection.blockSeconds)}, rounds from ${seconds(inspection.requestTimeoutSeconds)}`,
    ],
    ["gas limit", gasLimit === undefined ? "unknown" : count(gasLimit)],
    ["forks", forks.map(({ name, at, unit }) => `${name} (${unit} ${at})`).join(", ") || "none since London"],
  ];
}

function accountTable(accounts: Inspection["accounts"]): string {
  return table(
    ["ACCOUNT", "TOKENS", "CODE", ""],
    accounts.map(({ address, balanceWei, codeBytes, knownAs }) => [
      address,
      formatTokens(balanceWei),
      codeBytes === 0 ? "-" : `${codeBytes} bytes`,
      knownAs ?? "",
    ]),
  );
}

function verdict(problems: number): string {
  if (problems === 0) return "Nothing is wrong with it.";
  return problems === 1 ? "One problem." : `${problems} problems.`;
}
