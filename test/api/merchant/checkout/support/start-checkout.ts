import { z } from "zod";
import type { ApiConfig } from "../../../../../api/config.ts";
import type { Teardown } from "../../../../../scripts/processes/teardown.ts";
import { waitFor } from "../../../../helpers/wait-for.ts";
import { bob } from "../../../support/start-world.ts";
import { send } from "../../support/sign-in.ts";
import { buyKey, newcomer, startShop } from "../../support/start-shop.ts";

const invoices = "/api/v1/svc-dev/v1/invoices";
const made = z.object({
  invoice: z.object({
    ...{ id: z.string(), state: z.string(), payUrl: z.string(), depositAddress: z.string() },
    amountWei: z.string().transform(BigInt),
  }),
});

/** A shop with a merchant, whose invoices are made and paid for real. */
export async function startCheckout(
  t: Teardown,
  options: { replicas?: number; change?: (config: ApiConfig) => ApiConfig } = {},
) {
  const shop = await startShop(t, options);
  const { api, db, anvil } = shop;
  const { wallet, headers } = await newcomer(api);
  const { secret } = await buyKey(shop, headers);
  const key = { "X-Svc-Dev-Key": secret };

  const transfer = async (to: string, value: bigint) =>
    String(
      await anvil.rpc("eth_sendTransaction", [
        { from: bob, to, value: `0x${value.toString(16)}`, gas: "0x7a120" },
      ]),
    );

  return {
    ...shop,
    wallet,
    key,
    async create(body: object = {}) {
      const answer = await send(api, invoices, { headers: key, body: { amountIdr: 150_000, ...body } });
      const { invoice } = made.parse(answer.json);
      const path = new URL(invoice.payUrl).pathname;
      return { ...invoice, path, token: path.slice("/pay/".length) };
    },
    cancel: (id: string) => send(api, `${invoices}/${id}/cancel`, { headers: key, body: {} }),
    transfer,
    /** Waits until the ledger has booked it so. */
    reached: (id: string, state: string) =>
      waitFor(`${id} is ${state}`, async () => {
        const { json } = await api.get(`${invoices}/${id}`, key);
        return made.parse(json).invoice.state === state;
      }),
    settings: (displayName: string, contact: string, language: string | null) =>
      db.query(
        "update svc.wallets set display_name = $1, contact = $2, language = $3 where address = decode($4, 'hex')",
        [...[displayName, contact, language, wallet.slice(2)]],
      ),
  };
}

/** What a page says, without its tags. */
export function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&#39;", "'")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replace(/[ \n]+/g, " ");
}
