import { getAddress, isAddress } from "ethers/address";
import { developmentAccounts } from "../../lib/chain/development-accounts.ts";
import { deterministicDeployer } from "../known-accounts.ts";
import { readQuantity } from "./check-block.ts";
import { type Finding, problem, remark } from "./finding.ts";
import { type GenesisView, isObject } from "./read-genesis.ts";

export type InspectedAccount = { address: string; balanceWei: bigint; codeBytes: number; knownAs?: string };

const deployerAddress = deterministicDeployer.address.toLowerCase();
const publicAddresses = new Set(developmentAccounts.map((address) => address.toLowerCase()));
const listedMax = 5;

/** Who has tokens and which contracts are there from the beginning. */
export function checkAlloc({ alloc }: GenesisView): { accounts: InspectedAccount[]; findings: Finding[] } {
  const findings: Finding[] = [];
  const accounts = new Map<string, InspectedAccount>();
  for (const [key, value] of Object.entries(alloc)) {
    const address = key.startsWith("0x") ? key : `0x${key}`;
    if (!isAddress(address)) {
      findings.push(problem(`alloc has ${JSON.stringify(key)}, which is not an address`));
      continue;
    }
    if (accounts.has(address)) {
      findings.push(problem(`alloc has ${getAddress(address)} twice, with 0x and without`));
    }
    const account = readAccount({ address, value, findings });
    if (account !== undefined) accounts.set(address, account);
  }
  findings.push(
    ...checkFunds([...accounts.values()]),
    ...checkDeployer(accounts.get(deployerAddress), alloc),
  );
  return { accounts: [...accounts.values()], findings };
}

function readAccount({
  address,
  value,
  findings,
}: {
  address: string;
  value: unknown;
  findings: Finding[];
}): InspectedAccount | undefined {
  const name = `alloc's ${getAddress(address)}`;
  if (!isObject(value)) {
    findings.push(problem(`${name} is not an object`));
    return undefined;
  }
  const balanceWei = value["balance"] === undefined ? 0n : readQuantity(value["balance"]);
  if (balanceWei === undefined) {
    findings.push(
      problem(
        `${name} has the balance ${JSON.stringify(value["balance"])}; wei were expected, such as "0x1"`,
      ),
    );
  }
  const code = value["code"] ?? "0x";
  const isCode = typeof code === "string" && /^(0x)?([0-9a-fA-F]{2})*$/.test(code);
  if (!isCode) findings.push(problem(`${name} has code that is not hexadecimal`));
  const codeBytes = isCode ? code.replace(/^0x/, "").length / 2 : 0;
  const knownAs = nameOf(address);
  return {
    address: getAddress(address),
    balanceWei: balanceWei ?? 0n,
    codeBytes,
    ...(knownAs === undefined ? {} : { knownAs }),
  };
}

function nameOf(address: string): string | undefined {
  if (address === deployerAddress) return "deterministic-deployment proxy";
  return publicAddresses.has(address) ? "public development account" : undefined;
}

function checkFunds(accounts: readonly InspectedAccount[]): Finding[] {
  const funded = accounts.filter(({ balanceWei }) => balanceWei > 0n);
  if (funded.length === 0)
    return [problem("alloc gives nobody tokens: nothing on this chain can ever have any")];
  const known = funded.filter(({ knownAs }) => knownAs === "public development account");
  if (known.length === 0) return [];
  const shown = known.slice(0, listedMax).map(({ address }) => address);
  const rest = known.length > listedMax ? ` and ${known.length - listedMax} more` : "";
  return [
    remark(
      `anybody can spend the tokens of public development accounts: ${shown.join(", ")}${rest}; never in production`,
    ),
  ];
}

function checkDeployer(account: InspectedAccount | undefined, alloc: GenesisView["alloc"]): Finding[] {
  const { address, code } = deterministicDeployer;
  if (account === undefined) {
    return [
      remark(`the deterministic-deployment proxy (${address}) is not in alloc: some tools will want it`),
    ];
  }
  const value = alloc[deployerAddress] ?? alloc[deployerAddress.slice(2)];
  if (isObject(value) && value["code"] === code) return [];
  return [
    problem(`${address} is the address of the deterministic-deployment proxy, but has other code than it`),
  ];
}
