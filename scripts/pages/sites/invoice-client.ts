import { JsonRpcProvider } from "ethers/providers";
import type { Wallet } from "ethers/wallet";
import { z } from "zod";

const made = z.object({
  invoice: z.object({
    ...{ id: z.string(), state: z.string(), payUrl: z.string(), depositAddress: z.string() },
    ...{ amountWei: z.string().transform(BigInt), expiresAtUnix: z.number() },
  }),
});

export type MadeInvoice = z.output<typeof made>["invoice"];

const stateWithinMs = 30_000;

/** What a merchant's program does with its key, and what its customers do. Rejects where it is refused. */
export function createInvoiceClient({ url, rpcUrl, key }: { url: string; rpcUrl: string; key: string }) {
  const invoices = `${url}/api/v1/svc-dev/v1/invoices`;

  async function ask(path: string, init: RequestInit = {}): Promise<MadeInvoice> {
    const headers = { "Content-Type": "application/json", "X-Svc-Dev-Key": key };
    const response = await fetch(invoices + path, { headers, ...init });
    const record: unknown = await response.json();
    const read = made.safeParse(record);
    if (!read.success) throw new Error(`no invoice came: ${JSON.stringify(record)}`);
    return read.data.invoice;
  }

  return {
    create: (body: object) => ask("", { method: "POST", body: JSON.stringify(body) }),
    read: ({ id }: Pick<MadeInvoice, "id">) => ask(`/${id}`),
    cancel: ({ id }: Pick<MadeInvoice, "id">) => ask(`/${id}/cancel`, { method: "POST", body: "{}" }),

    /** Waits until it has this state. */
    async reached({ id }: Pick<MadeInvoice, "id">, state: string): Promise<MadeInvoice> {
      const endMs = performance.now() + stateWithinMs;
      for (;;) {
        const invoice = await ask(`/${id}`);
        if (invoice.state === state) return invoice;
        if (performance.now() > endMs) throw new Error(`${id} is ${invoice.state}, not ${state}`);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },

    /** A transaction of a customer's, of which nobody has said yet whether it goes through; its hash. */
    async send(wallet: Wallet, call: { to: string; value: bigint; data?: string }): Promise<string> {
      const node = new JsonRpcProvider(rpcUrl, undefined, { polling: true, staticNetwork: true });
      try {
        // A gas limit of its own: what will be refused is sent as well.
        const { hash } = await wallet.connect(node).sendTransaction({ ...call, gasLimit: 400_000n });
        return hash;
      } finally {
        node.destroy();
      }
    },
  };
}

export type InvoiceClient = ReturnType<typeof createInvoiceClient>;
