import { Redis } from "ioredis";
import { faucetLimitKey } from "../../../lib/redis/keys/faucet.ts";
import type { ChainPayment } from "./read-payments.ts";

/* What must hold after a run of crashes, in words of what does not. */

/** Checks on the chain that each address was paid once, the right amount, under the id of its accepted claim. */
export function checkPayments({
  addresses,
  claims,
  paid,
  amountWei,
}: {
  addresses: readonly string[];
  /** Claims' ids by address. */
  claims: ReadonlyMap<string, string>;
  paid: readonly ChainPayment[];
  amountWei: bigint;
}): string[] {
  const broken: string[] = [];
  for (const address of addresses) {
    const payments = paid.filter(({ to }) => to === address.toLowerCase());
    if (payments.length !== 1) broken.push(`${address} was paid ${payments.length} times`);
    const [payment] = payments;
    if (payment === undefined) continue;
    if (payment.valueWei !== amountWei) broken.push(`${address} was paid ${payment.valueWei} wei`);
    if (payment.claimId !== claims.get(address)) broken.push(`${address} was paid for another claim`);
  }
  if (paid.length !== addresses.length) broken.push(`${paid.length} payments for ${addresses.length}`);
  return broken;
}

/** Checks that each claim counts once in each of its limits, and that nothing else counts. */
export async function checkLimits({
  redisUrl,
  addresses,
}: {
  redisUrl: string;
  addresses: readonly string[];
}): Promise<string[]> {
  const broken: string[] = [];
  const client = new Redis(redisUrl);
  try {
    const expected: [string, number][] = [
      ["all", addresses.length],
      ["client:127.0.0.1", addresses.length],
      ...addresses.map((address): [string, number] => [`address:${address.toLowerCase()}`, 1]),
    ];
    for (const [scope, most] of expected) {
      const counted = await client.zcard(faucetLimitKey(scope));
      if (counted !== most) broken.push(`${scope} counts ${counted} claims instead of ${most}`);
    }
    return broken;
  } finally {
    client.disconnect();
  }
}
