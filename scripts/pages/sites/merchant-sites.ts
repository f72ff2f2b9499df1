import { Wallet } from "ethers/wallet";
import { pino } from "pino";
import type { ApiConfig } from "../../../api/config.ts";
import { start } from "../../../api/start.ts";
import { createRpcClient } from "../../../lib/chain/rpc-client.ts";
import { developmentOwner } from "../../../lib/fee-collector/development-keys.ts";
import { developmentFeeSettings } from "../../../lib/fee-collector/fee-settings.ts";
import { network } from "../../../lib/network.ts";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { deployContracts } from "../../contracts/deploy-contracts.ts";
import { type OwnAnvil, startOwnAnvil } from "../../processes/own-anvil.ts";
import { reservePort } from "../../processes/reserved-port.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { once, type Site } from "./explorer-sites.ts";
import { createMerchantClient, type MadeOrder, type MerchantSession } from "./merchant-client.ts";
import { fillInvoices, type InvoicePaths } from "./merchant-invoices.ts";
import { ownApiConfig } from "./own-api-config.ts";
import { waitForIndex } from "./start-explorer.ts";
import { fillWebhook, fillWebhookOwners, type WebhookOwner, webhookOwners } from "./webhook-sites.ts";

const silent = pino({ level: "silent" });
const ledgerWithinMs = 60_000;

/** Accounts of the development chain, which have tokens. */
export const merchants = {
  alice: new Wallet("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"),
  bob: new Wallet("0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"),
  carol: new Wallet("0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a"),
};

export type MerchantApi = {
  url: string;
  anvil: OwnAnvil;
  client: ReturnType<typeof createMerchantClient>;
  stop(): Promise<void>;
};

/** An API over a chain of its own with the fee contracts, at a port that is known before, since sign-in names it. */
export async function startMerchantApi(
  t: Teardown,
  {
    redisUrl,
    postgresUrl,
    change = (config) => config,
  }: { redisUrl: string; postgresUrl: string; change?: (config: ApiConfig) => ApiConfig },
): Promise<MerchantApi> {
  const [anvil, port] = await Promise.all([startOwnAnvil(t), reservePort()]);
  const rpc = createRpcClient({ url: anvil.url, timeoutMs: 10_000 });
  await deployContracts({
    ...{ rpc, chainId: network.chainId, settings: developmentFeeSettings },
    ownerKey: async () => developmentOwner.privateKey,
  });
  await rpc.stop();
  const url = `http://127.0.0.1:${port}`;
  const config = change({
    ...ownApiConfig({ redisUrl, postgresUrl, upstream: anvil.url }),
    ...{
      port,
      publicUrl: url,
      faucetUrl: "https://faucet.example",
      walletProxyUrl: "http://127.0.0.1:8541/",
    },
    // Blocks of this chain come on demand.
    stalledAfterMs: 86_400_000,
  });
  const api = await start(config, { logger: silent });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= api.stop());
  t.teardown(stop);
  await waitForIndex(url, Number(await anvil.rpc("eth_blockNumber")));
  await waitForLedger(`http://127.0.0.1:${api.address.opsPort}`);
  return { url, anvil, client: createMerchantClient({ url, rpcUrl: anvil.url }), stop };
}

/** Waits until an API follows payments: before that it takes no orders. @throws Error where that takes too long. */
async function waitForLedger(opsUrl: string): Promise<void> {
  const endMs = performance.now() + ledgerWithinMs;
  for (;;) {
    const text = await (await fetch(`${opsUrl}/status`)).text();
    if (/"epoch": ?1\b/.test(text)) return;
    if (performance.now() > endMs) throw new Error(`payments are not followed: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Time is not moved ahead for it: every other order would run out as well. */
async function expireOrders(postgresUrl: string, label: string): Promise<void> {
  const before = "now() - interval '1 minute'";
  await withDatabase(postgresUrl, (db) =>
    db.query(`update svc.orders set valid_until = ${before} where request ->> 'label' = $1`, [label]),
  );
}

async function withDatabase<Value>(
  postgresUrl: string,
  work: (db: Pick<Queryable, "query">) => Promise<Value>,
): Promise<Value> {
  const connection = await connectPostgres({ url: postgresUrl, name: "pages", logger: silent });
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}

/** The contract takes no part of a price. @returns the hash of what it reverted. */
async function payTooLittle(anvil: OwnAnvil, { transaction: { to, data } }: MadeOrder): Promise<string> {
  const call = { from: merchants.alice.address, to, data, value: "0x1", gas: "0x493e0" };
  // anvil mines it, and tells of the revert as an error with the hash in it.
  const answer = await anvil.rpc("eth_sendTransaction", [call]).catch((error: unknown) => String(error));
  const [hash] = /0x[0-9a-f]{64}/.exec(String(answer)) ?? [];
  if (hash === undefined) throw new Error(`nothing was sent: ${String(answer)}`);
  return hash;
}

export type MerchantSite = Site & {
  paths: InvoicePaths &
    Readonly<Record<"open" | "sent" | "reverted" | "paid" | "used" | "expired" | "key", string>>;
  webhooks: Awaited<ReturnType<typeof fillWebhook>> & Awaited<ReturnType<typeof fillWebhookOwners>>;
};

export type MerchantSites = {
  /** Of somebody who has all kinds of keys and orders. */
  shop: () => Promise<MerchantSite>;
  sessions: Readonly<
    Record<"newcomer" | "customer" | "collector" | WebhookOwner, () => Promise<MerchantSession>>
  >;
};

/** One API with three merchants: one who has just come, one who has all kinds of keys and orders, one with as many keys as can be. */
export function openMerchantSites(
  t: Teardown,
  services: { redisUrl: string; createDatabase: () => Promise<string> },
): MerchantSites {
  const database = once(services.createDatabase);
  const api = once(async () =>
    startMerchantApi(t, { redisUrl: services.redisUrl, postgresUrl: await database() }),
  );
  const signedIn = (wallet: Wallet) => once(async () => (await api()).client.signIn(wallet));
  const sessions = {
    newcomer: signedIn(merchants.carol),
    customer: signedIn(merchants.alice),
    collector: signedIn(merchants.bob),
    ordering: signedIn(webhookOwners.ordering),
    paying: signedIn(webhookOwners.paying),
    disabled: signedIn(webhookOwners.disabled),
  };
  return {
    sessions,
    shop: once(async () => {
      const { url, client, anvil } = await api();
      const postgresUrl = await database();
      const { token } = await sessions.customer();
      const { alice, bob } = merchants;
      const used = await client.order(token, { package: "yearly", label: "Web shop" });
      await client.pay(alice, used);
      const { id } = await client.take(token, used.id);
      await client.buy(alice, token, { package: "monthly", scopes: ["dashboard:read"] });
      const old = await client.buy(alice, token, { package: "monthly", label: "Laptop that was stolen" });
      await client.revoke(token, old.id);
      const open = await client.order(token, { package: "quarterly", label: "Test server" });
      const paid = await client.order(token, { package: "monthly", label: "Night job" });
      await client.pay(alice, paid);
      await client.signIn(alice);
      const { token: collector } = await sessions.collector();
      const webhook = await fillWebhook(t, { client, owner: bob, token: collector });
      const bought = await fillWebhookOwners({
        client,
        postgresUrl,
        sessionOf: (owner) => sessions[owner](),
      });
      for (const label of ["One", "Two", "Three", "Four", "Five"]) {
        await client.buy(bob, collector, { package: "monthly", label });
      }
      const late = await client.order(token, { package: "monthly", label: "Too late" });
      await expireOrders(postgresUrl, "Too late");
      const wrong = await payTooLittle(anvil, open);
      const payer = merchants.carol.address;
      // One of its own: a secret is shown again until its key is used.
      const { secret } = await client.buy(alice, token, { package: "monthly", label: "Kasir" });
      const invoices = await withDatabase(postgresUrl, (db) =>
        fillInvoices({ url, secret, anvil, db, payer }),
      );
      const sent = await client.order(token, { package: "monthly", label: "On its way" });
      await anvil.rpc("evm_setAutomine", [false]);
      const hash = await client.pay(alice, sent);
      const pathOf = (order: { id: string }) => `/merchant/orders/${order.id}`;
      return {
        url,
        webhooks: { ...webhook, ...bought },
        paths: {
          ...invoices,
          ...{ open: pathOf(open), paid: pathOf(paid), used: pathOf(used) },
          ...{ expired: pathOf(late), reverted: `${pathOf(open)}?tx=${wrong}` },
          ...{ sent: `${pathOf(sent)}?tx=${hash}`, key: `/merchant/keys/${id}/revoke` },
        },
      };
    }),
  };
}
