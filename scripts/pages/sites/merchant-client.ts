import { JsonRpcProvider } from "ethers/providers";
import type { Wallet } from "ethers/wallet";
import { z } from "zod";

const given = z.object({
  ...{ domain: z.string(), uri: z.string(), statement: z.string(), chainId: z.number() },
  ...{ nonce: z.string(), issuedAt: z.string(), expirationTime: z.string() },
});
const opened = z.object({ token: z.string() });
const ordered = z.object({
  order: z.object({
    id: z.string(),
    transaction: z.object({ to: z.string(), value: z.string(), data: z.string() }),
  }),
});
const tested = z.object({ event: z.object({ id: z.string() }) });
const issued = z.object({ key: z.object({ id: z.string(), secret: z.string() }) });

export type WantedOrder = { package: string; label?: string; scopes?: readonly string[] };
export type MadeOrder = z.output<typeof ordered>["order"];
export type IssuedKey = z.output<typeof issued>["key"];
export type MerchantSession = { token: string; cookie: { name: string; value: string } };

const takenWithinMs = 30_000;

/** What a merchant's program does at an API: signing in, ordering, paying, taking a key. Rejects where it is refused. */
export function createMerchantClient({ url, rpcUrl }: { url: string; rpcUrl: string }) {
  async function post(path: string, { token, body }: { token?: string; body: object }) {
    const response = await fetch(`${url}/api/v1/svc-dev/${path}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });
    return { response, record: await response.json() };
  }

  /** Asks again until what was paid is booked. */
  async function untilBooked(ask: () => ReturnType<typeof post>): Promise<unknown> {
    const endMs = performance.now() + takenWithinMs;
    for (;;) {
      const { response, record } = await ask();
      if (response.status === 201) return record;
      if (response.status !== 402 || performance.now() > endMs) {
        throw new Error(`what was paid is not there: ${JSON.stringify(record)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async function take(token: string, orderId: string): Promise<IssuedKey> {
    return issued.parse(await untilBooked(() => post("keys", { token, body: { orderId } }))).key;
  }

  const client = {
    async signIn(wallet: Wallet): Promise<MerchantSession> {
      const nonce = given.parse((await post("session/nonce", { body: {} })).record);
      const message = [
        `${nonce.domain} wants you to sign in with your Ethereum account:`,
        ...[wallet.address, "", nonce.statement, ""],
        ...[`URI: ${nonce.uri}`, "Version: 1", `Chain ID: ${nonce.chainId}`, `Nonce: ${nonce.nonce}`],
        ...[`Issued At: ${nonce.issuedAt}`, `Expiration Time: ${nonce.expirationTime}`],
      ].join("\n");
      const signature = await wallet.signMessage(message);
      const { response, record } = await post("session", { body: { message, signature } });
      const [, name = "", value = ""] =
        /^([^=]+)=([^;]*)/.exec(response.headers.get("set-cookie") ?? "") ?? [];
      return { token: opened.parse(record).token, cookie: { name, value } };
    },

    async order(token: string, wanted: WantedOrder): Promise<MadeOrder> {
      const { record } = await post("keys", { token, body: wanted });
      const made = ordered.safeParse(record);
      if (!made.success) throw new Error(`nothing was ordered: ${JSON.stringify(record)}`);
      return made.data.order;
    },

    /** Sends what pays an order; the transaction's hash. */
    async pay(wallet: Wallet, { transaction: { to, value, data } }: MadeOrder): Promise<string> {
      const node = new JsonRpcProvider(rpcUrl, undefined, { polling: true, staticNetwork: true });
      try {
        const { hash } = await wallet.connect(node).sendTransaction({ to, value, data });
        return hash;
      } finally {
        node.destroy();
      }
    },

    take,

    /** An order that is paid, and its key. */
    async buy(wallet: Wallet, token: string, wanted: WantedOrder): Promise<IssuedKey> {
      const order = await client.order(token, wanted);
      await client.pay(wallet, order);
      return take(token, order.id);
    },

    async orderWebhook(token: string, hook: string): Promise<MadeOrder> {
      const { record } = await post("webhooks", { token, body: { url: hook } });
      return ordered.parse(record).order;
    },

    /** Buys a webhook's first URL; the order that was paid. */
    async saveWebhook(wallet: Wallet, token: string, hook: string): Promise<MadeOrder> {
      const order = await client.orderWebhook(token, hook);
      await client.pay(wallet, order);
      await untilBooked(() => post("webhooks", { token, body: { url: hook, orderId: order.id } }));
      return order;
    },

    /** Sends a test; the event's id. */
    async testWebhook(token: string): Promise<string> {
      const { record } = await post("webhooks/test", { token, body: {} });
      return tested.parse(record).event.id;
    },

    async rotateWebhook(token: string): Promise<void> {
      const { response } = await post("webhooks/rotate", { token, body: {} });
      if (!response.ok) throw new Error(`the secret was not changed: ${response.status}`);
    },

    async revoke(token: string, keyId: string): Promise<void> {
      const { response } = await post("keys/revoke", { token, body: { keyId } });
      if (!response.ok) throw new Error(`${keyId} was not revoked: ${response.status}`);
    },
  };
  return client;
}
