import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { readBigint, readText } from "../../../lib/postgres/row.ts";
import { createLiveClients, type LiveClient } from "../../live/live-clients.ts";
import type { Invoice } from "../invoices/invoice.ts";
import { createRounds } from "../rounds.ts";

/** `version`: what the page that listens shows. */
type Listener = LiveClient & { invoiceId: string; version: string; sinceMs: number };

export type PaymentStreams = ReturnType<typeof createPaymentStreams>;

const lookEveryMs = 1000;
const reconnectMs = 2000;
/** A page that is left open for longer comes back by itself; a connection whose browser is gone does not. */
const streamMsMax = 3_600_000;
/** After these nothing is told any more: the money is complete. */
const finalStates: ReadonlySet<string> = new Set<Invoice["state"]>(["paid", "overpaid", "paid_late"]);

/** What a customer's page depends on, as a text without blanks. */
export function versionOf({ state, received }: { state: string; received: bigint }): string {
  return `${state}.${received}`;
}

/** Whether there is nothing to listen to. */
export function isFinal({ state }: Pick<Invoice, "state">): boolean {
  return finalStates.has(state);
}

/**
 * Server-sent events for payment pages. However many listen, one statement a second asks which of their invoices have changed:
 * whichever process has booked a payment, all of them see it. Events are `changed`, after which the page is asked for again, and
 * `clock` with the chain's clock, which is the heartbeat.
 */
export function createPaymentStreams({
  db,
  clock,
  now,
  settings,
  logger,
}: {
  db: Pick<Queryable, "query">;
  /** The chain's, in Unix milliseconds. */
  clock: () => number;
  now: () => number;
  /** The first two are read for each client. */
  settings: { readonly clientsMax: number; readonly perAddressMax: number; readonly heartbeatMs: number };
  logger: Pick<Logger, "warn" | "info">;
}) {
  const clients = createLiveClients<Listener>(settings);
  let isStopped = false;
  let isFailing = false;

  function tell(client: Listener, { state, version }: { state: string; version: string }): void {
    if (client.version === version) return;
    client.version = version;
    clients.write(client, `event: changed\nid: ${version}\ndata: ${JSON.stringify({ state })}\n\n`);
    if (finalStates.has(state)) clients.finish(client);
  }

  async function look(): Promise<void> {
    const ids = new Set([...clients.all()].map(({ invoiceId }) => invoiceId));
    if (ids.size === 0) return;
    try {
      const { rows } = await db.query({
        name: "invoices-listened-to",
        text: "select id, state, received from svc.invoices where id = any($1::uuid[])",
        values: [[...ids]],
      });
      const found = new Map(
        rows.map((row) => {
          const state = readText(row, "state");
          return [
            readText(row, "id"),
            { state, version: versionOf({ state, received: readBigint(row, "received") }) },
          ];
        }),
      );
      for (const client of [...clients.all()]) {
        const standing = found.get(client.invoiceId);
        if (standing !== undefined) tell(client, standing);
      }
      if (isFailing) logger.info("payment pages are told of payments again");
      isFailing = false;
    } catch (error) {
      if (!isFailing) logger.warn({ err: error }, "payment pages cannot be told of payments");
      isFailing = true;
    }
  }

  const rounds = createRounds({ work: look, everyMs: lookEveryMs });
  const beat = () => `event: clock\ndata: ${JSON.stringify({ now: clock() })}\n\n`;
  const heartbeat = setInterval(() => {
    const text = beat();
    for (const client of [...clients.all()]) {
      if (now() - client.sinceMs > streamMsMax) clients.finish(client);
      else clients.write(client, text);
    }
  }, settings.heartbeatMs);
  heartbeat.unref();
  rounds.start();

  return {
    /** Whether one more client of this address is taken. */
    standing: (address: string): "free" | "full" | "too many" | "stopping" =>
      isStopped ? "stopping" : clients.room(address),

    /** Takes a client in, whose head was written. `seen`: the version that it shows. */
    add({
      response,
      address,
      invoice,
      seen,
    }: {
      response: ServerResponse;
      address: string;
      invoice: Pick<Invoice, "id" | "state" | "received">;
      seen: string;
    }): void {
      const client: Listener = { response, address, invoiceId: invoice.id, version: seen, sinceMs: now() };
      if (!clients.add(client)) return;
      clients.write(client, `retry: ${reconnectMs}\n\n${beat()}`);
      tell(client, { state: invoice.state, version: versionOf(invoice) });
    },

    count: clients.count,

    /** Ends all; one that does not read is cut off. */
    async stop(): Promise<void> {
      isStopped = true;
      clearInterval(heartbeat);
      clients.end();
      await rounds.stop();
    },
  };
}
