import { randomBytes, randomUUID } from "node:crypto";
import { SigningKey } from "ethers/crypto";
import { zeroPadValue } from "ethers/utils";
import { cancelInvoice } from "../../../api/merchant/invoices/invoice-store.ts";
import { developmentSigners } from "../../../lib/fee-collector/development-keys.ts";
import { depositBoxAddress } from "../../../lib/fee-collector/fee-addresses.ts";
import { collectCall, payCall } from "../../../lib/fee-collector/fee-calls.ts";
import { type FeeOrder, orderId, orderRef, signOrder } from "../../../lib/fee-collector/fee-order.ts";
import type { FeeSource } from "../../../lib/fee-collector/fee-sources.ts";
import { network } from "../../../lib/network.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { insertRow } from "./insert-row.ts";

export type ShopOrder = {
  /** Of svc.orders. */
  orderId: string;
  order: FeeOrder;
  signature: string;
  /** On chain. */
  id: string;
  box: string;
  feeCollector: string;
};

export type ShopInvoice = ShopOrder & {
  /** Of svc.invoices. */
  invoiceId: string;
};

/** Passes on what it is sent, to the address that it is told: a contract wallet, whose transfers leave no trace. */
export const forwarderCode = "0x5f5f5f5f345f355af100";
export const forwarder = `0x${"f0".repeat(20)}`;

const ether = 10n ** 18n;
const payers = [
  "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
] as const;

/** Makes orders in a database as the api does, and pays them on a dev chain in each way that there is. */
export function createShop({
  db,
  rpc,
  feeCollector,
}: {
  db: Pick<Queryable, "query">;
  /** Of the dev chain, whose accounts are unlocked. */
  rpc: (method: string, params?: readonly unknown[]) => Promise<unknown>;
  feeCollector: string;
}) {
  async function insertOrder(
    terms: Omit<FeeOrder, "ref">,
    { kind, wallet }: { kind: "api_key" | "invoice" | "webhook_url"; wallet: Uint8Array },
  ): Promise<ShopOrder> {
    const uuid = randomUUID();
    const order = { ...terms, ref: orderRef(uuid) };
    const shop = signedOrder(order, uuid, feeCollector);
    await db.query("insert into svc.wallets (address) values ($1) on conflict do nothing", [wallet]);
    await insertRow(db, "orders", {
      ...{ id: uuid, id_on_chain: bytes(shop.id), kind, wallet, ref: bytes(order.ref), source: order.source },
      ...{ payee: order.payee === null ? null : bytes(order.payee), amount: order.amount, fee: order.fee },
      ...{ valid_until: new Date(order.validUntil * 1000), signature: bytes(shop.signature) },
      request: "{}",
    });
    return shop;
  }

  const send = async (fields: object, payer = 0): Promise<string> =>
    String(
      await rpc("eth_sendTransaction", [{ from: payers[payer] ?? payers[0], gas: "0x7a120", ...fields }]),
    );
  const hex = (value: bigint) => `0x${value.toString(16)}`;

  return {
    /** An order of a key. */
    keyOrder: ({
      amount = 100n * ether,
      validUntil,
      wallet = randomBytes(20),
    }: {
      amount?: bigint;
      validUntil: number;
      wallet?: Uint8Array;
    }) =>
      insertOrder(
        { source: "svc_dev", payee: null, amount, fee: amount, validUntil },
        { kind: "api_key", wallet },
      ),

    /** An order of a webhook. */
    webhookOrder: ({ wallet, validUntil }: { wallet: Uint8Array; validUntil: number }) =>
      insertOrder(
        { source: "svc_dev", payee: null, amount: ether, fee: ether, validUntil },
        { kind: "webhook_url", wallet },
      ),

    /** An invoice, whose merchant is its payee. */
    async invoice({
      amount = 10n * ether,
      fee = 0n,
      expiresAt,
      watchUntil = expiresAt + 86_400,
      wallet = randomBytes(20),
    }: {
      amount?: bigint;
      fee?: bigint;
      expiresAt: number;
      watchUntil?: number;
      /** The merchant's. */
      wallet?: Buffer;
    }): Promise<ShopInvoice> {
      const payee = `0x${wallet.toString("hex")}`;
      const shop = await insertOrder(
        { source: "payments", payee, amount, fee, validUntil: expiresAt },
        { kind: "invoice", wallet },
      );
      const invoiceId = randomUUID();
      await insertRow(db, "invoices", {
        ...{ id: invoiceId, order_id: shop.orderId, wallet, pay_token: randomBytes(11).toString("hex") },
        ...{ amount_idr: 150_000, idr_per_token: "15000", rate_source: "fixed" },
        ...{ rate_at: new Date(), amount, box: bytes(shop.box) },
        ...{ expires_at: new Date(expiresAt * 1000), watch_until: new Date(watchUntil * 1000) },
      });
      return { ...shop, invoiceId };
    },

    /** As its merchant does; whether it was still open. */
    cancel: ({ invoiceId }: ShopInvoice) => cancelInvoice(db, invoiceId),

    /** By the FeeCollector. Each answers the transaction's hash; `value` may be wrong. */
    pay: (
      shop: ShopOrder,
      { payer = 0, value = shop.order.amount }: { payer?: number; value?: bigint } = {},
    ) => send({ to: feeCollector, data: payCall(shop), value: hex(value) }, payer),
    /** By a plain transfer to the box. */
    transfer: ({ box }: ShopOrder, value: bigint, { payer = 0 }: { payer?: number } = {}) =>
      send({ to: box, value: hex(value) }, payer),
    /** By a contract's transfer to the box. */
    transferByContract: ({ box }: ShopOrder, value: bigint) =>
      send({ to: forwarder, data: zeroPadValue(box, 32), value: hex(value) }),
    /** Passes on what lies in the box. */
    collect: (shop: ShopOrder) => send({ to: feeCollector, data: collectCall(shop) }),
  };
}

export type Shop = ReturnType<typeof createShop>;

function signedOrder(order: FeeOrder, uuid: string, feeCollector: string): ShopOrder {
  const place = { chainId: network.chainId, feeCollector };
  const signingKey = signers(order.source);
  const id = orderId({ order, ...place });
  const signature = signOrder({ order, ...place, signingKey });
  return { orderId: uuid, order, signature, id, feeCollector, box: depositBoxAddress({ feeCollector, id }) };
}

function signers(source: FeeSource): SigningKey {
  return new SigningKey(developmentSigners[source].privateKey);
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex.slice(2), "hex");
}
