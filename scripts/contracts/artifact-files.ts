import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { json } from "../../lib/cli/format.ts";
import type { CompiledContract } from "./compile-contracts.ts";

const folder = resolve(import.meta.dirname, "../../lib/fee-collector/artifacts");

const files: Readonly<Record<string, string>> = {
  FeeCollector: resolve(folder, "fee-collector.json"),
  DepositBox: resolve(folder, "deposit-box.json"),
};

/** Writes what was compiled over what is checked in; answers the files that it changed. */
export async function writeArtifacts(contracts: readonly CompiledContract[]): Promise<string[]> {
  const changed = await changedArtifacts(contracts);
  for (const { file, text } of changed) await writeFile(file, text);
  return changed.map(({ file }) => file);
}

/** The checked-in files that differ from what was compiled, and what should stand there. */
export async function changedArtifacts(
  contracts: readonly CompiledContract[],
): Promise<{ file: string; text: string }[]> {
  const wanted = contracts.map((contract) => ({
    file: files[contract.contract] ?? resolve(folder, `${contract.contract}.json`),
    text: `${json(contract)}\n`,
  }));
  const found = await Promise.all(wanted.map(({ file }) => readFile(file, "utf8").catch(() => "")));
  return wanted.filter(({ text }, index) => text !== found[index]);
}
