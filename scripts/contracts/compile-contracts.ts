import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import solc from "solc";
import { z } from "zod";

/** What is checked in of a contract, in lib/fee-collector/artifacts. */
export type CompiledContract = {
  contract: string;
  compiler: string;
  settings: typeof compilerSettings;
  abi: readonly unknown[];
  initCode: string;
  /** As deployed, with zeros where the constructor writes its immutable values. */
  runtimeCode: string;
  immutables: readonly { start: number; length: number }[];
};

/**
 * solc compiles for the newest fork unless told; a test holds `evmVersion` against the genesis block. Without metadata a
 * changed comment changes no byte, and so no address.
 */
export const compilerSettings = {
  evmVersion: "cancun",
  optimizer: { enabled: true, runs: 10_000 },
  metadata: { bytecodeHash: "none", appendCBOR: false },
} as const;

export const contractNames = ["FeeCollector", "DepositBox"] as const;

const root = resolve(import.meta.dirname, "../..");
export const contractsFolder = resolve(root, "genesis/contracts");

/** Compiles the contracts of a folder: about 2 s of one core. @throws Error with solc's own words. */
export async function compileContracts({
  folder = contractsFolder,
}: {
  folder?: string;
} = {}): Promise<CompiledContract[]> {
  const sources = await Promise.all(
    contractNames.map(async (name) => {
      const content = await readFile(resolve(folder, `${name}.sol`), "utf8");
      return [`genesis/contracts/${name}.sol`, { content }] as const;
    }),
  );
  const answer = solc.compile(
    JSON.stringify({
      language: "Solidity",
      sources: Object.fromEntries(sources),
      settings: {
        ...compilerSettings,
        outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode"] } },
      },
    }),
    { import: readLibrary },
  );
  const { errors, contracts } = answerSchema.parse(JSON.parse(answer));
  const wrong = errors.filter(({ severity }) => severity === "error");
  if (wrong.length > 0) throw new Error(wrong.map(({ formattedMessage }) => formattedMessage).join("\n"));
  return contractNames.map((name) => {
    const compiled = contracts[`genesis/contracts/${name}.sol`]?.[name];
    if (compiled === undefined) throw new Error(`solc made nothing of ${name}`);
    const { bytecode, deployedBytecode } = compiled.evm;
    return {
      contract: name,
      compiler: solc.version(),
      settings: compilerSettings,
      abi: compiled.abi,
      initCode: `0x${bytecode.object}`,
      runtimeCode: `0x${deployedBytecode.object}`,
      immutables: Object.values(deployedBytecode.immutableReferences)
        .flat()
        .sort((one, other) => one.start - other.start),
    };
  });
}

/** solc asks for what a source imports, and wants the answer at once. */
function readLibrary(path: string): { contents: string } | { error: string } {
  if (!path.startsWith("@openzeppelin/contracts/")) return { error: `${path} is no library of ours` };
  return { contents: readFileSync(resolve(root, "node_modules", path), "utf8") };
}

const answerSchema = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).default([]),
  contracts: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.object({
          abi: z.array(z.unknown()),
          evm: z.object({
            bytecode: z.object({ object: z.string() }),
            deployedBytecode: z.object({
              object: z.string(),
              immutableReferences: z
                .record(z.string(), z.array(z.object({ start: z.int(), length: z.int() })))
                .default({}),
            }),
          }),
        }),
      ),
    )
    .default({}),
});
