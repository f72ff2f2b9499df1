import { Wallet } from "ethers";
import { z } from "zod";
import type { ApiConfig } from "../../../../../api/config.ts";
import { findInvoiceOrder } from "../../../../../api/merchant/invoices/collect-orders.ts";
import { type InvoiceRecord, invoiceRecord } from "../../../../../api/merchant/invoices/invoice-record.ts";
import { idOf } from "../../../../../api/merchant/public-id.ts";
import { payCall } from "../../../../../lib/fee-collector/fee-calls.ts";
import type { Teardown } from "../../../../../scripts/processes/teardown.ts";
import { waitFor } from "../../../../helpers/wait-for.ts";
import { send } from "../../support/sign-in.ts";
import { buyKey, newcomer, type ShopServices, startShop } from "../../support/start-shop.ts";

export type Paying = { to: string; value: bigint; data: string };
export type RpcReply = {
  status: number;
  headers: Headers;
  text: string;
  result: unknown;
  error: { code: number; message: string; data?: unknown } | undefined;
};

const reply = z.looseObject({
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
});
const invoiceAnswer = z.object({ invoice: invoiceRecord });
const invoicesPath = "/api/v1/svc-dev/v1/invoices";
const thousandTokens = "0x3635c9adc5dea00000";

/** A merchant's invoices, the wallets of customers, and the RPC that they pay through. */
export async function startPayerRpc(
  t: Teardown,
  options: {
    replicas?: number;
    change?: (config: ApiConfig) => ApiConfig;
    given?: ShopServices;
  } = {},
) {
  const shop = await startShop(t, options);
  const { api, anvil, db } = shop;
  const { headers } = await newcomer(api);
  const { secret } = await buyKey(shop, headers);
  const key = { "X-Svc-Dev-Key": secret };
  const invoiceOf = (json: unknown): InvoiceRecord => invoiceAnswer.parse(json).invoice;
  const read = async (id: string) => invoiceOf((await api.get(`${invoicesPath}/${id}`, key)).json);

  async function post(
    body: unknown,
    { headers = {}, at = api }: { headers?: Record<string, string>; at?: { url: string } } = {},
  ): Promise<RpcReply> {
    const { json, ...answer } = await send(at, "/rpc", { headers, body });
    const parsed = reply.safeParse(json).data;
    return { ...answer, result: parsed?.result, error: parsed?.error };
  }

  return {
    ...shop,
    url: `${api.url}/rpc`,
    post,
    call: (method: string, params: readonly unknown[] = [], options: Parameters<typeof post>[1] = {}) =>
      post({ jsonrpc: "2.0", id: 1, method, params }, options),

    /** An invoice, and both ways of paying it: the contract's `pay`, and a transfer to its box. */
    async invoice(body: object = { amountIdr: 150_000 }) {
      const made = invoiceOf((await send(api, invoicesPath, { headers: key, body })).json);
      const order = await findInvoiceOrder(db, idOf("inv").parse(made.id));
      if (order === undefined) throw new Error("the invoice has no order");
      const value = order.order.amount;
      const pay: Paying = { to: order.feeCollector, value, data: payCall(order) };
      const transfer: Paying = { to: made.depositAddress, value, data: "0x" };
      return { id: made.id, pay, transfer };
    },
    cancel: (id: string) => send(api, `${invoicesPath}/${id}/cancel`, { headers: key }),
    read,
    /** Waits until the ledger has booked so much that the invoice is in this state. */
    becomes: (id: string, state: InvoiceRecord["state"]) =>
      waitFor(`the invoice is ${state}`, async () => (await read(id)).state === state),

    /** An account of its own with funds. */
    async payer(): Promise<Wallet> {
      const wallet = new Wallet(Wallet.createRandom().privateKey);
      await anvil.rpc("anvil_setBalance", [wallet.address, thousandTokens]);
      return wallet;
    },
  };
}

export type PayerRpcUnderTest = Awaited<ReturnType<typeof startPayerRpc>>;

/** A signed transaction as wallets make it, with whatever is wrong with it. */
export function sign(wallet: Wallet, paying: object, more: object = {}): Promise<string> {
  return wallet.signTransaction({
    ...{ type: 2, chainId: 8845, nonce: 0, gasLimit: 200_000n },
    ...{ maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 0n },
    ...paying,
    ...more,
  });
}
