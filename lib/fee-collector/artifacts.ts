import { readFileSync } from "node:fs";
import { Interface } from "ethers/abi";
import { z } from "zod";

const hex = z.templateLiteral(["0x", z.string()]);

const artifactSchema = z.object({
  abi: z.array(z.looseObject({ type: z.string() })),
  initCode: hex,
  runtimeCode: hex,
  immutables: z.array(z.object({ start: z.int(), length: z.int() })),
});

/** What `npm run contracts -- compile` made of genesis/contracts/. */
export const feeCollectorArtifact = read("fee-collector");
export const depositBoxArtifact = read("deposit-box");

export const feeCollectorInterface = new Interface(JSON.stringify(feeCollectorArtifact.abi));

function read(name: string) {
  const file = new URL(`artifacts/${name}.json`, import.meta.url);
  return artifactSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}
