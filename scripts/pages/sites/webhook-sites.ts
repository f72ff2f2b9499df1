import { createServer, type Server } from "node:http";
import { Wallet } from "ethers/wallet";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import type { Teardown } from "../../processes/teardown.ts";
import type { createMerchantClient, MadeOrder, MerchantSession } from "./merchant-client.ts";

type Client = ReturnType<typeof createMerchantClient>;

/** Further accounts of the development chain, which have tokens. */
export const webhookOwners = {
  /** Has ordered, and not paid. */
  ordering: new Wallet("0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a"),
  /** Has paid, and not saved a URL. */
  paying: new Wallet("0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba"),
  /** Whose webhook was disabled while its secret was changed. */
  disabled: new Wallet("0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6"),
};
export type WebhookOwner = keyof typeof webhookOwners;

/** What a program that was broken into might answer. */
const hostile =
  "<!doctype html><script>alert(1)</script><h1>Internal error</h1>\u001b[31m \u202edesrever\u202c " +
  `at handler (/srv/shop/hook.js:12:7) ${"x".repeat(900)}`;
const silent = { info() {}, warn() {}, error() {} };

/** A merchant's program: takes payments, and fails the second test. */
async function startReceiver(t: Teardown): Promise<string> {
  let tests = 0;
  const server: Server = createServer((request, response) => {
    request.resume();
    if (request.headers["x-svc-event"] === "webhook.test") tests += 1;
    if (tests === 2) response.writeHead(500, { "Content-Type": "text/html" }).end(hostile);
    else response.writeHead(200, { "Content-Type": "application/json" }).end('{"received":true}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a receiver has a port");
  return `http://127.0.0.1:${address.port}/hook`;
}

async function disable(postgresUrl: string): Promise<void> {
  const connection = await connectPostgres({ url: postgresUrl, name: "pages", logger: silent });
  try {
    await connection.query(
      `update svc.webhook_endpoints set disabled_at = now(), disabled_why = 'failing', failing_since = now() - interval '6 days',
        dead_events = 2 where next_since is not null`,
    );
  } finally {
    await connection.end();
  }
}

/** A webhook with a log: its first test arrived, its second did not. */
export async function fillWebhook(
  t: Teardown,
  { client, owner, token }: { client: Client; owner: Wallet; token: string },
): Promise<{ orderPath: string; arrived: string; failed: string }> {
  const order = await client.saveWebhook(owner, token, await startReceiver(t));
  const arrived = await client.testWebhook(token);
  return {
    orderPath: pathOf(order),
    arrived: eventPath(arrived),
    failed: eventPath(await client.testWebhook(token)),
  };
}

/** Webhooks that are bought, and one that is disabled. */
export async function fillWebhookOwners({
  client,
  sessionOf,
  postgresUrl,
}: {
  client: Client;
  sessionOf: (owner: WebhookOwner) => Promise<MerchantSession>;
  postgresUrl: string;
}): Promise<{ open: string; paid: string }> {
  const url = "https://shop.example/hooks/tollgate";
  const open = await client.orderWebhook((await sessionOf("ordering")).token, url);
  const paid = await client.orderWebhook((await sessionOf("paying")).token, url);
  await client.pay(webhookOwners.paying, paid);
  const { token } = await sessionOf("disabled");
  await client.saveWebhook(webhookOwners.disabled, token, url);
  await client.rotateWebhook(token);
  await disable(postgresUrl);
  return { open: pathOf(open), paid: pathOf(paid) };
}

const pathOf = ({ id }: Pick<MadeOrder, "id">) => `/merchant/orders/${id}`;
const eventPath = (id: string) => `/merchant/webhooks/events/${id}`;
