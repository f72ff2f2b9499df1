import { type Finding, problem, remark } from "./finding.ts";
import type { GenesisView, JsonObject } from "./read-genesis.ts";

export type Fork = { name: string; at: number; unit: "block" | "time" };

/** Since London, in the order in which each rests on those before it. Those before London come with it. */
const forkKeys = [
  { key: "londonblock", name: "London", unit: "block" },
  { key: "shanghaitime", name: "Shanghai", unit: "time" },
  { key: "cancuntime", name: "Cancun", unit: "time" },
  { key: "praguetime", name: "Prague", unit: "time" },
  { key: "osakatime", name: "Osaka", unit: "time" },
  { key: "amsterdamtime", name: "Amsterdam", unit: "time" },
] as const;

/** Which rules hold from when on, and what transactions cost. */
export function checkForks({ root, config }: GenesisView): { forks: readonly Fork[]; findings: Finding[] } {
  const findings: Finding[] = [];
  const forks: Fork[] = [];
  for (const { key, name, unit } of forkKeys) {
    const at = config[key];
    if (at === undefined) continue;
    if (typeof at === "number" && Number.isInteger(at) && at >= 0) forks.push({ name, at, unit });
    else findings.push(problem(`${name}'s ${unit} is ${JSON.stringify(at)}; a whole number was expected`));
  }
  findings.push(...checkOrder(forks), ...checkLondon(config, forks), ...checkFees(root, config, forks));
  if (config["terminaltotaldifficulty"] !== undefined) {
    findings.push(
      problem(
        "terminalTotalDifficulty is set: from then on validators would wait for a beacon chain and make no blocks",
      ),
    );
  }
  return { forks, findings };
}

function checkOrder(forks: readonly Fork[]): Finding[] {
  const findings: Finding[] = [];
  const byTime = forks.filter(({ unit }) => unit === "time");
  const known = forkKeys.filter(({ unit }) => unit === "time").map(({ name }) => name);
  for (const [index, { name, at }] of byTime.entries()) {
    const before = byTime[index - 1];
    if (before !== undefined && before.at > at) {
      findings.push(problem(`${name} begins at ${at}, before ${before.name} (${before.at})`));
    }
    const expected = known[index];
    if (expected !== undefined && expected !== name && !byTime.some((fork) => fork.name === expected)) {
      findings.push(problem(`${name} is set without ${expected}, on which it rests`));
    }
  }
  return findings;
}

function checkLondon(config: JsonObject, forks: readonly Fork[]): Finding[] {
  const london = forks.find(({ name }) => name === "London");
  if (london === undefined && config["londonblock"] === undefined) {
    return [
      problem(
        "londonBlock is missing: without it there is no EIP-1559, and zeroBaseFee has no effect; 0 was expected",
      ),
    ];
  }
  if (london !== undefined && london.at > 0) {
    return [
      remark(`London begins at block ${london.at}: before it transactions with maxFeePerGas are refused`),
    ];
  }
  return [];
}

function checkFees(root: JsonObject, config: JsonObject, forks: readonly Fork[]): Finding[] {
  const findings: Finding[] = [];
  const isZero = config["zerobasefee"] === true;
  if (config["zerobasefee"] !== undefined && typeof config["zerobasefee"] !== "boolean") {
    findings.push(
      problem(`zeroBaseFee is ${JSON.stringify(config["zerobasefee"])}; true or false was expected`),
    );
  }
  if (isZero && config["fixedbasefee"] === true) {
    findings.push(problem("zeroBaseFee and fixedBaseFee exclude each other: Besu does not start with both"));
  }
  if (!isZero && forks.some(({ name }) => name === "London")) {
    findings.push(
      problem(
        "zeroBaseFee is not true: there is a base fee from London on, and transactions at price 0 are refused",
      ),
    );
  }
  if (root["basefeepergas"] !== undefined) {
    findings.push(
      remark(
        `baseFeePerGas is ${JSON.stringify(root["basefeepergas"])}: it holds for the genesis block alone`,
      ),
    );
  }
  return findings;
}
