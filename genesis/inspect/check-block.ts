import { bftDifficulty, bftMixHash } from "../genesis-file.ts";
import { type Finding, problem, remark } from "./finding.ts";
import type { GenesisView } from "./read-genesis.ts";

/** 0x2285, printed for 8845 in places: 8845 is 0x228d. */
const misprintedChainId = 0x2285;
const gasLimitUsefulMin = 1_000_000n;

/** The genesis block's own fields, and the chain's number. */
export function checkBlock({ root, config }: GenesisView, { now }: { now: () => Date }): Finding[] {
  return [
    ...checkChainId(config["chainid"]),
    ...checkMixHash(root["mixhash"]),
    ...checkDifficulty(root["difficulty"]),
    ...checkGasLimit(root["gaslimit"]),
    ...checkTimestamp(root["timestamp"], now),
  ];
}

/** A number as genesis files write them: a JSON number, decimal digits, or hexadecimal ones behind 0x. */
export function readQuantity(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined;
  return typeof value === "string" && /^(0x[0-9a-fA-F]+|\d+)$/.test(value) ? BigInt(value) : undefined;
}

function checkChainId(value: unknown): Finding[] {
  if (value === undefined) return [problem("chainId is missing: wallets cannot sign for this chain")];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1) {
    return [problem(`chainId is ${JSON.stringify(value)}; a whole number above 0 was expected`)];
  }
  if (value !== misprintedChainId) return [];
  return [
    problem(`chainId is ${misprintedChainId}, which is 0x2285; if 8845 was meant, its hex form is 0x228d`),
  ];
}

function checkMixHash(value: unknown): Finding[] {
  if (typeof value === "string" && value.toLowerCase() === bftMixHash) return [];
  const found = value === undefined ? "missing" : `${JSON.stringify(value)}`;
  return [problem(`mixHash is ${found}; IBFT and QBFT need ${bftMixHash}`)];
}

function checkDifficulty(value: unknown): Finding[] {
  if (readQuantity(value) === 1n) return [];
  const found = value === undefined ? "missing" : JSON.stringify(value);
  return [
    problem(`difficulty is ${found}; ${bftDifficulty} was expected, as every block of this consensus has it`),
  ];
}

function checkGasLimit(value: unknown): Finding[] {
  const gasLimit = readQuantity(value);
  if (gasLimit === undefined) {
    return [
      problem(`gasLimit is ${value === undefined ? "missing" : `${JSON.stringify(value)}, not a number`}`),
    ];
  }
  if (gasLimit >= gasLimitUsefulMin) return [];
  return [problem(`gasLimit is ${gasLimit}: hardly any contract could be deployed`)];
}

function checkTimestamp(value: unknown, now: () => Date): Finding[] {
  if (value === undefined) return [remark("timestamp is missing: Besu takes 0")];
  const seconds = readQuantity(value);
  if (seconds === undefined) return [problem(`timestamp is ${JSON.stringify(value)}, not a number`)];
  if (seconds <= BigInt(Math.floor(now().getTime() / 1000))) return [];
  return [problem(`timestamp is ${seconds}, in the future: no block can be made before`)];
}
