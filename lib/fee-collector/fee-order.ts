import { ZeroAddress } from "ethers/constants";
import type { SigningKey } from "ethers/crypto";
import { TypedDataEncoder } from "ethers/hash";
import { type FeeSource, sourceBytes } from "./fee-sources.ts";

/** What has to be paid, as the service signs it. */
export type FeeOrder = {
  /** The service's own number of it: 32 bytes, 0x and 64 digits (`orderRef`). */
  ref: string;
  source: FeeSource;
  /** Gets the amount without the fee; null where the whole amount is the fee. */
  payee: string | null;
  /** Wei to pay, at most `orderAmountWeiMax`. */
  amount: bigint;
  /** Wei of the amount that are the platform's. */
  fee: bigint;
  /** The last block time, in Unix seconds, at which `pay` takes the order. */
  validUntil: number;
};

/** On which chain, and for which contract, an order is signed. */
export type OrderPlace = { chainId: number; feeCollector: string };

/** The contract takes no larger one. */
export const orderAmountWeiMax = 2n ** 96n - 1n;

/** The order's id on chain: its EIP-712 digest, 0x and 64 digits in lower case. */
export function orderId({ order, chainId, feeCollector }: { order: FeeOrder } & OrderPlace): string {
  return TypedDataEncoder.hash(domainOf({ chainId, feeCollector }), orderTypes, orderOnChain(order));
}

/** The signature that the contract takes: r, s and v, 65 bytes in hex. The same arguments give the same bytes (RFC 6979). */
export function signOrder({
  order,
  chainId,
  feeCollector,
  signingKey,
}: { order: FeeOrder; signingKey: SigningKey } & OrderPlace): string {
  return signingKey.sign(orderId({ order, chainId, feeCollector })).serialized;
}

/** A UUID as an order's `ref`: its 16 bytes, then zeros. */
export function orderRef(uuid: string): string {
  return `0x${uuid.replaceAll("-", "").toLowerCase().padEnd(64, "0")}`;
}

/** An order as the contract's struct has it. */
export function orderOnChain(order: FeeOrder) {
  const { ref, source, payee, amount, fee, validUntil } = order;
  return { ref, source: sourceBytes(source), payee: payee ?? ZeroAddress, amount, fee, validUntil };
}

/** EIP-712: what a wallet or a library needs to make the digest again. */
export const orderTypes = {
  Order: [
    { name: "ref", type: "bytes32" },
    { name: "source", type: "bytes32" },
    { name: "payee", type: "address" },
    { name: "amount", type: "uint256" },
    { name: "fee", type: "uint256" },
    { name: "validUntil", type: "uint64" },
  ],
};

function domainOf({ chainId, feeCollector }: OrderPlace) {
  return { name: "Tollgate FeeCollector", version: "1", chainId, verifyingContract: feeCollector };
}
