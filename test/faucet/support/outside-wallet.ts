import { randomBytes } from "node:crypto";
import { getAddress, Wallet } from "ethers";
import { network } from "../../../lib/network.ts";

/** The development key of config/faucet.yaml, held by somebody else too. */
export const faucetKey = "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6";

export const faucetAddress = new Wallet(faucetKey).address;

/** A transaction of the faucet's wallet that the faucet did not make, at the price of its payments. */
export function signOutside({
  nonce,
  to = faucetAddress,
  valueWei = 0n,
}: {
  nonce: number;
  to?: string;
  valueWei?: bigint;
}): Promise<string> {
  return new Wallet(faucetKey).signTransaction({
    type: 2,
    chainId: network.chainId,
    nonce,
    gasLimit: 40_000,
    to,
    value: valueWei,
    maxFeePerGas: 1_000_000_000n,
    maxPriorityFeePerGas: 0n,
  });
}

/** An address whose key nobody has: making one takes long. */
export function randomAddress(): string {
  return getAddress(`0x${randomBytes(20).toString("hex")}`);
}
