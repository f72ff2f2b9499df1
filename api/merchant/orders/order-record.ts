import { formatEther } from "ethers/utils";
import { z } from "zod";
import { payCall } from "../../../lib/fee-collector/fee-calls.ts";
import { splitFee } from "../../../lib/fee-collector/split-fee.ts";
import { network } from "../../../lib/network.ts";
import { address, amount, bytes, hash, integer } from "../../records/values.ts";
import { keyScopes } from "../../rest/security.ts";
import { packageNames } from "../packages.ts";
import { publicId } from "../public-id.ts";
import { moment, timeOf } from "../times.ts";
import { type Order, type PlacedOrder, statusOf, type WebhookOrder } from "./order.ts";

export const tokenRecord = z
  .strictObject({ symbol: z.string(), decimals: integer })
  .meta({ id: "PlatformToken", description: "The network's own token" });
export const platformToken: z.output<typeof tokenRecord> = {
  symbol: network.nativeCurrency.symbol,
  decimals: network.nativeCurrency.decimals,
};

/** Tokens as a person writes them. */
export const tokens = z
  .string()
  .regex(/^\d+(?:\.\d+)?$/)
  .meta({ id: "Tokens", description: "Whole tokens as decimal text", examples: ["100"] });

export function tokensOf(wei: bigint): string {
  return formatEther(wei).replace(/\.0$/, "");
}

const chainIdHex = `0x${network.chainId.toString(16)}`;
const hexNumber = z.string().regex(/^0x(?:0|[1-9a-f][0-9a-f]*)$/);

const what = {
  id: z.string(),
  status: z.enum(["open", "paid", "used", "expired"]),
};
const payment = {
  source: z.string(),
  amount: tokens,
  amountWei: amount,
  feeWei: amount,
  burnedWei: amount,
  token: tokenRecord,
  chainId: integer,
  contract: address,
  idOnChain: hash,
  createdAt: moment,
  createdAtUnix: integer,
  validUntil: moment,
  validUntilUnix: integer,
  paidAt: moment.nullable(),
  paidAtUnix: integer.nullable(),
  paidTxHash: hash.nullable(),
  transaction: z
    .strictObject({ to: address, value: hexNumber, data: bytes, chainId: hexNumber })
    .nullable()
    .meta({
      description: "What pays it, as eth_sendTransaction takes it; null where it cannot be paid any more",
    }),
};

export const orderRecord = z
  .strictObject({
    ...what,
    kind: z.literal("api_key"),
    package: z.enum(packageNames),
    label: z.string(),
    scopes: z.array(z.enum(keyScopes)),
    ...payment,
  })
  .meta({ id: "Order", description: "What is to be paid for a key" });

export type OrderRecord = z.output<typeof orderRecord>;

export const webhookOrderRecord = z
  .strictObject({
    ...what,
    kind: z.literal("webhook_url"),
    url: z.string().nullable().meta({ description: "Which URL it was last asked for" }),
    ...payment,
  })
  .meta({ id: "WebhookOrder", description: "What is to be paid for a webhook's first URL" });

export type WebhookOrderRecord = z.output<typeof webhookOrderRecord>;

/** What a wallet can be asked to pay: told apart by `kind`. */
export type AnyOrderRecord = OrderRecord | WebhookOrderRecord;

/** An order of a key as it is published. */
export function orderRecordOf(order: Order, nowMs: number): OrderRecord {
  const { package: name, label, scopes } = order.request;
  return { ...placedOrderOf(order, nowMs), kind: "api_key", package: name, label, scopes };
}

export function webhookOrderRecordOf(order: WebhookOrder, nowMs: number): WebhookOrderRecord {
  return { ...placedOrderOf(order, nowMs), kind: "webhook_url", url: order.url };
}

function placedOrderOf(order: PlacedOrder, nowMs: number) {
  const { terms, signature, feeCollector } = order;
  const status = statusOf(order, nowMs);
  const [created, valid, paid] = [
    timeOf(order.createdAt),
    timeOf(new Date(terms.validUntil * 1000)),
    order.paidAt === null ? null : timeOf(order.paidAt),
  ];
  return {
    id: publicId("ord", order.id),
    status,
    source: terms.source,
    amount: tokensOf(terms.amount),
    amountWei: String(terms.amount),
    feeWei: String(terms.fee),
    burnedWei: String(splitFee(terms.fee).burned),
    token: platformToken,
    chainId: network.chainId,
    contract: feeCollector,
    idOnChain: order.idOnChain,
    createdAt: created.text,
    createdAtUnix: created.unix,
    validUntil: valid.text,
    validUntilUnix: valid.unix,
    paidAt: paid?.text ?? null,
    paidAtUnix: paid?.unix ?? null,
    paidTxHash: order.paidTx,
    transaction:
      status === "open"
        ? {
            to: feeCollector,
            value: `0x${terms.amount.toString(16)}`,
            data: payCall({ order: terms, signature }),
            chainId: chainIdHex,
          }
        : null,
  };
}
