import { Wallet } from "ethers";
import { z } from "zod";
import type { ApiConfig } from "../../../../api/config.ts";
import { newKeyRecord } from "../../../../api/merchant/api-keys/api-key.ts";
import { orderRecord, webhookOrderRecord } from "../../../../api/merchant/orders/order-record.ts";
import { idOf } from "../../../../api/merchant/public-id.ts";
import { connectPostgres } from "../../../../lib/postgres/postgres-connection.ts";
import type { Queryable } from "../../../../lib/postgres/queryable.ts";
import type { ReadAgain } from "../../../../lib/reload/reloader.ts";
import type { Teardown } from "../../../../scripts/processes/teardown.ts";
import { deployOn } from "../../../helpers/fee-collector.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { type ApiUnderTest, startApi } from "../../support/start-api.ts";
import { bob, startServices } from "../../support/start-world.ts";
import { send, signIn } from "./sign-in.ts";

export const keysPath = "/api/v1/svc-dev/keys";
export const dashboardPath = "/api/v1/svc-dev/v1/dashboard";

const status = z.object({ ledger: z.object({ epoch: z.number().optional() }) });

type Services = Awaited<ReturnType<typeof startServices>>;
export type ShopServices = Omit<Services, "anvil"> & { anvil: Pick<Services["anvil"], "url" | "rpc"> };

/** APIs that sell keys, over one chain with the contracts, one database and one Redis. */
export async function startShop(
  t: Teardown,
  {
    replicas = 1,
    change = (config) => config,
    now,
    given,
    readAgain,
  }: {
    replicas?: number;
    change?: (config: ApiConfig) => ApiConfig;
    now?: () => number;
    /** Services that the test ends and begins itself; else the shop has its own. */
    given?: ShopServices;
    /** What a reload reads. */
    readAgain?: ReadAgain<ApiConfig>;
  } = {},
) {
  const { anvil, ...services }: ShopServices = given ?? (await startServices(t));
  const logger = { info() {}, warn() {} };
  const db = await connectPostgres({ url: services.postgresUrl, name: "test", logger });
  t.teardown(() => db.end());
  await deployOn(anvil.url);
  const apis = await Promise.all(
    Array.from({ length: replicas }, () =>
      startApi(t, {
        ...services,
        ...(now === undefined ? {} : { now }),
        ...(readAgain === undefined ? {} : { readAgain }),
        change: (config) =>
          change({
            ...config,
            // Blocks of this chain come on demand.
            stalledAfterMs: 86_400_000,
            // Each test is somebody else.
            session: { ...config.session, noncesPerMinute: 1000, signInsPerMinute: 1000 },
          }),
      }),
    ),
  );
  const [api] = apis;
  if (api === undefined) throw new Error("a shop has at least one API");
  for (const { opsUrl } of apis) {
    await waitFor("payments are followed", async () => {
      const { ledger } = status.parse(await (await fetch(`${opsUrl}/status`)).json());
      return ledger.epoch === 1;
    });
  }
  return { api, apis, db, anvil, services };
}

/** Pays an order by the transaction that it came with, from an account that the chain has unlocked. */
export async function payOrder(
  anvil: { rpc(method: string, params: unknown[]): Promise<unknown> },
  order: { transaction: object | null },
): Promise<string> {
  const params = [{ from: bob, gas: "0x493e0", ...order.transaction }];
  return z.string().parse(await anvil.rpc("eth_sendTransaction", params));
}

const orderAnswer = z.object({ order: orderRecord });
const keyAnswer = z.object({ key: newKeyRecord });

type Bearer = Readonly<Record<string, string>>;

/** Orders a key; the order that has to be paid. */
export async function orderKey(
  api: Pick<ApiUnderTest, "url">,
  headers: Bearer,
  request: Readonly<Record<string, unknown>> = { package: "monthly" },
) {
  const answer = await send(api, keysPath, { headers, body: request });
  if (answer.status !== 402) throw new Error(`402 was expected, not ${answer.status}: ${answer.text}`);
  return orderAnswer.parse(answer.json).order;
}

const webhookOrderAnswer = z.object({ order: webhookOrderRecord });

/** Orders the fee of a webhook's first URL. */
export async function orderWebhook(
  api: Pick<ApiUnderTest, "url">,
  headers: Bearer,
  url = "https://shop.example/",
) {
  const answer = await send(api, "/api/v1/svc-dev/webhooks", { headers, body: { url } });
  if (answer.status !== 402) throw new Error(`402 was expected, not ${answer.status}: ${answer.text}`);
  return webhookOrderAnswer.parse(answer.json).order;
}

/** Books an order as paid, where a test is not about paying. */
export async function markPaid(db: Pick<Queryable, "query">, orderId: string): Promise<void> {
  const { rowCount } = await db.query(
    "update svc.orders set paid_at = now(), paid_block = 1 where id = $1 and paid_at is null",
    [idOf("ord").parse(orderId)],
  );
  if (rowCount !== 1) throw new Error(`order ${orderId} could not be paid`);
}

/** Asks for the key of a paid order. */
export const askKey = (api: Pick<ApiUnderTest, "url">, headers: Bearer, orderId: string, more: object = {}) =>
  send(api, keysPath, { headers, body: { orderId, ...more } });

/** A key of a wallet that is signed in, bought. */
export async function buyKey(
  { api, db }: { api: Pick<ApiUnderTest, "url">; db: Pick<Queryable, "query"> },
  headers: Bearer,
  request?: Readonly<Record<string, unknown>>,
) {
  const order = await orderKey(api, headers, request);
  await markPaid(db, order.id);
  return keyAnswer.parse((await askKey(api, headers, order.id)).json).key;
}

/** A wallet that nobody has used before, signed in. */
export async function newcomer(api: Pick<ApiUnderTest, "url">) {
  const wallet = new Wallet(Wallet.createRandom().privateKey);
  return { wallet: wallet.address, headers: (await signIn(api, wallet)).bearer };
}
