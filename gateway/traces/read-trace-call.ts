import { type Refusal, refusal } from "../json-rpc/refusal.ts";
import { tooMuchGas } from "./too-much-gas.ts";

/** The members that a call object may have. Any other one could mean something to a validator that is not checked here. */
const callMembers: ReadonlySet<string> = new Set([
  "from",
  "to",
  "gas",
  "gasPrice",
  "maxFeePerGas",
  "maxPriorityFeePerGas",
  "value",
  "data",
  "input",
  "nonce",
  "accessList",
  "chainId",
  "type",
]);

/** A call object that may be traced, with its gas written out: for a missing gas a validator would use its own cap. */
export function readTraceCall(
  value: unknown,
  { gasMax, gasMissing }: { gasMax: number; gasMissing: number },
): { call: Record<string, unknown>; gas: number } | Refusal {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return refusal("invalid_params", "Each call must be an object");
  }
  const members: Readonly<Record<string, unknown>> = { ...value };
  const other = Object.keys(members).some((name) => !callMembers.has(name));
  if (other) {
    return refusal(
      "invalid_params",
      `A traced call may have the members ${[...callMembers].join(", ")}, and no other member`,
    );
  }
  const gas = readGas(members["gas"] ?? gasMissing);
  if (gas === undefined) return refusal("invalid_params", "gas must be a number as 0x-prefixed hex");
  if (gas > gasMax) return tooMuchGas(gas, gasMax);
  return { call: { ...members, gas: `0x${gas.toString(16)}` }, gas };
}

function readGas(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (typeof value !== "string" || !/^(0x[0-9a-fA-F]{1,64}|\d{1,20})$/.test(value)) return undefined;
  return Number(value);
}
