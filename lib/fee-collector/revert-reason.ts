import { formatEther } from "ethers/utils";
import { network } from "../network.ts";
import { feeCollectorInterface } from "./artifacts.ts";

/**
 * Why the FeeCollector refused a call, in a sentence for a person; undefined where the revert data say nothing that it knows. Never
 * throws. `data` is the `data` of the error that a node answers to eth_call or eth_estimateGas.
 */
export function revertReason(data: string): string | undefined {
  const found = parse(data);
  if (found === undefined) return undefined;
  const sentence = sentences[found.name];
  return sentence === undefined ? `The contract refused: ${found.name}.` : sentence(found.values);
}

const { symbol } = network.nativeCurrency;

const sentences: Readonly<Record<string, (values: readonly unknown[]) => string>> = {
  BadOrder: () => "The order's terms are none that the contract takes.",
  NotSigned: () =>
    "The order is not signed by the service: one of its terms was changed, or its signer is not allowed any more.",
  WrongAmount: ([expected, sent]) => `The order costs ${tokens(expected)}, but ${tokens(sent)} were sent.`,
  Expired: ([validUntil]) => `The order could be paid until ${time(validUntil)}.`,
  AlreadyPaid: () => "The order is paid already.",
  MoneyInBox: ([, box]) => `A transfer has begun to pay this order: send the rest to ${box}.`,
  NothingToCollect: () => "Nothing lies in the order's deposit box.",
  NothingOwed: () => "Nothing is owed to this account.",
  NotPayable: () => "The recipient does not take the tokens.",
  BadAddress: () => "The contract cannot use this address.",
  OwnableUnauthorizedAccount: ([account]) => `${account} is not the contract's owner.`,
  ReentrancyGuardReentrantCall: () => "The contract was called again while it was working.",
  Error: ([reason]) => `The contract refused: ${reason}.`,
};

function tokens(wei: unknown): string {
  return typeof wei === "bigint" ? `${formatEther(wei)} ${symbol}` : `${wei}`;
}

function time(unixSeconds: unknown): string {
  const at = new Date(Number(unixSeconds) * 1000);
  return Number.isNaN(at.getTime()) ? `${unixSeconds}` : at.toISOString();
}

/** Bytes that are no error of it make ethers throw, some only when a value is taken out. */
function parse(data: string): { name: string; values: unknown[] } | undefined {
  try {
    const found = feeCollectorInterface.parseError(data);
    return found === null ? undefined : { name: found.name, values: found.args.toArray() };
  } catch {
    return undefined;
  }
}
