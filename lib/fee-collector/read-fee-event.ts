import { ZeroAddress } from "ethers/constants";
import { z } from "zod";
import { feeCollectorInterface } from "./artifacts.ts";
import { readSource } from "./fee-sources.ts";

type Shares = {
  /** `orderId`. */
  id: string;
  /** One of `feeSources`, or the 32 bytes that the contract was told. */
  source: string;
  /** EIP-55; null where the whole amount is the fee. */
  payee: string | null;
  /** Wei that were passed on. */
  amount: bigint;
  /** Wei of these that were the platform's. */
  fee: bigint;
  /** Wei of the fee that were burned. */
  burned: bigint;
};

export type FeeEvent =
  | (Shares & { kind: "paid"; payer: string })
  /** `received` is all that has come in for the order, this event's amount included. */
  | (Shares & { kind: "collected"; received: bigint });

/**
 * What a log of the FeeCollector says of money that came in; undefined for its other logs. It looks at no address: whoever asks knows
 * whose log it is. Never throws.
 */
export function readFeeEvent(log: { topics: readonly string[]; data: string }): FeeEvent | undefined {
  const found = parse(log);
  if (found === undefined) return undefined;
  const { name, values } = found;
  if (name === "Paid") {
    const { payer, ...shares } = paid.parse(values);
    return { kind: "paid", payer, ...shares };
  }
  if (name !== "Collected") return undefined;
  const { received, ...shares } = collected.parse(values);
  return { kind: "collected", received, ...shares };
}

/** The topics under which a node finds these logs: Paid or Collected. */
export const feeEventTopics: readonly string[] = ["Paid", "Collected"].map((name) => {
  const event = feeCollectorInterface.getEvent(name);
  if (event === null) throw new Error(`the FeeCollector has no event ${name}`);
  return event.topicHash;
});

/** Bytes that are no event of it make ethers throw, some only when a value is taken out. */
function parse({
  topics,
  data,
}: {
  topics: readonly string[];
  data: string;
}): { name: string; values: Record<string, unknown> } | undefined {
  const [first] = topics;
  if (first === undefined || !feeEventTopics.includes(first)) return undefined;
  try {
    const found = feeCollectorInterface.parseLog({ topics, data });
    return found === null ? undefined : { name: found.name, values: found.args.toObject() };
  } catch {
    return undefined;
  }
}

const shares = {
  id: z.string(),
  source: z.string().transform(readSource),
  payee: z.string().transform((address) => (address === ZeroAddress ? null : address)),
  amount: z.bigint(),
  fee: z.bigint(),
  burned: z.bigint(),
};
const paid = z.object({ ...shares, payer: z.string() });
const collected = z.object({ ...shares, received: z.bigint() });
