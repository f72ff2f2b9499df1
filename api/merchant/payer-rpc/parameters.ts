import { z } from "zod";
import { address, bytes, hexQuantity, quantity, wei } from "../../../lib/chain/rpc-values.ts";

/** A wallet looks at what is new; older blocks are for the gateway. */
const blocksBackMax = 128;
const feeBlocksMax = 100;
const percentilesMax = 20;
/** `pay` with its order takes 356 bytes. */
const callBytesMax = 1024;

/* What a wallet is told where it sends something else; the sentence goes on with "was expected". */
export const blockExpected = `latest, pending, safe, finalized or the number of one of the newest ${blocksBackMax} blocks`;
export const feeBlocksExpected = `a number of blocks, 1 to ${feeBlocksMax}`;
export const percentilesExpected = `a list of at most ${percentilesMax} percentiles`;
export const transactionCallExpected = `a transaction with from, to, value and at most ${callBytesMax} bytes of data`;

/** Where a call looks: a tag, or one of the newest blocks by its number. It is passed on as it is parsed. */
export function createBlockParameter({ head }: { head: () => number | undefined }) {
  const near = quantity
    .refine((number) => number >= (head() ?? Number.POSITIVE_INFINITY) - blocksBackMax)
    .transform(hexQuantity);
  return z.union([z.enum(["latest", "pending", "safe", "finalized"]), near]);
}

const counted = z.union([quantity, z.int().min(0)]).refine((count) => count >= 1 && count <= feeBlocksMax);

/** eth_feeHistory's first: hexadecimal, or a number as some clients send it. */
export const feeBlocks = counted.transform(hexQuantity);

export const percentiles = z
  .array(z.number().min(0).max(100))
  .max(percentilesMax)
  .nullish()
  .transform((given) => given ?? []);

/** What eth_call and eth_estimateGas run; what it would cost is left out, since gas is bounded by us. */
export const transactionCall = z
  .looseObject({
    from: address.nullish(),
    to: address.nullish(),
    value: wei.nullish(),
    data: bytes.max(2 + 2 * callBytesMax).nullish(),
    input: bytes.max(2 + 2 * callBytesMax).nullish(),
  })
  .refine(({ data, input }) => data == null || input == null || data === input)
  .transform(({ from, to, value, data, input }) => ({
    from: from ?? undefined,
    to: to ?? undefined,
    value: value ?? 0n,
    data: input ?? data ?? "0x",
  }));

export type TransactionCall = z.output<typeof transactionCall>;
