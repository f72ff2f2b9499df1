import { createHash } from "node:crypto";
import { isRefusal, type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import type { KeyCaller } from "../../rest/security.ts";
import { writeAudit } from "../audit-log.ts";
import type { MerchantKeys } from "../open-merchant-keys.ts";
import { idOf } from "../public-id.ts";
import type { PurchaseGate } from "../purchase-gate.ts";
import type { WalletTurns } from "../wallet-turns.ts";
import type { CollectBox } from "./collect-box.ts";
import { findInvoiceOrder } from "./collect-orders.ts";
import type { Invoice } from "./invoice.ts";
import type { InvoiceBody } from "./invoice-body.ts";
import { csvHead, csvLines, csvRowsMax, type Separator } from "./invoice-csv.ts";
import { type InvoiceHistory, readInvoiceHistory } from "./invoice-history.ts";
import { type InvoiceRecord, invoiceRecord, invoiceRecordOf } from "./invoice-record.ts";
import { cancelInvoice, findInvoice, type InvoiceFilter, listInvoices, paymentsOf } from "./invoice-store.ts";
import { decodeListCursor, encodeListCursor } from "./list-cursor.ts";
import { onceByKey } from "./once-by-key.ts";
import { type InvoiceMaker, openInvoice } from "./open-invoice.ts";
import type { Rates } from "./rates.ts";

export type Invoices = ReturnType<typeof createInvoices>;

/** Rows of a file that are read at once. */
const csvPageRows = 500;

export type InvoicePage = { data: InvoiceRecord[]; nextCursor: string | null };

/** Invoices of merchants: made, listed, cancelled by whoever has a key. What has arrived the ledger says. */
export function createInvoices({
  pool,
  gate,
  turns,
  rates,
  terms,
  merchantKeys,
  collectBox,
  publicUrl,
  isDevelopment,
  clock,
}: {
  pool: PostgresPool;
  gate: Pick<PurchaseGate, "paymentProblem">;
  turns: WalletTurns;
  rates: Pick<Rates, "current">;
  /** Asked for each invoice. */
  terms: () => { feeBasisPoints: number; openMax: number; watchedMax: number; boxesMax: number };
  merchantKeys: Pick<MerchantKeys, "feeCollector" | "invoiceSigningKey" | "sealer"> | undefined;
  collectBox: CollectBox;
  publicUrl: string;
  isDevelopment: boolean;
  /** Unix milliseconds that the chain's next block will not be before. */
  clock: () => number;
}) {
  async function recordsOf(db: Pick<Queryable, "query">, invoices: readonly Invoice[]) {
    const payments = await paymentsOf(db, invoices);
    return invoices.map((invoice) =>
      invoiceRecordOf({ invoice, payments: payments.get(invoice.orderId) ?? [], publicUrl }),
    );
  }

  async function recordOf(db: Pick<Queryable, "query">, id: string): Promise<InvoiceRecord> {
    const invoice = await findInvoice(db, id);
    const [record] = invoice === undefined ? [] : await recordsOf(db, [invoice]);
    if (record === undefined) throw new Error(`invoice ${id} is not there after it was made`);
    return record;
  }

  async function listPage(
    wallet: string,
    { filter, limit, cursor }: { filter: InvoiceFilter; limit: number; cursor: string | undefined },
  ): Promise<InvoicePage | Refusal> {
    const before = cursor === undefined ? undefined : decodeListCursor(cursor);
    if (cursor !== undefined && before === undefined) return wrongCursor;
    const found = await listInvoices(pool, { wallet, filter, before, count: limit + 1 });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      data: await recordsOf(pool, page),
      nextCursor: found.length > limit && last !== undefined ? encodeListCursor(last) : null,
    };
  }

  /** What makes an invoice inside a transaction, or why none can be made. */
  function makingOf({ wallet, body, by }: { wallet: string; body: InvoiceBody; by: InvoiceMaker }) {
    const signingKey = merchantKeys?.invoiceSigningKey;
    if (merchantKeys === undefined || signingKey === undefined) return notMade;
    if (!isDevelopment && body.redirectUrl?.startsWith("https:") === false) return onlyHttps;
    const { sealer, feeCollector } = merchantKeys;
    const work = async (db: Queryable): Promise<InvoiceRecord | Refusal> => {
      const problem = gate.paymentProblem();
      if (problem !== undefined) return problem;
      const rate = rates.current();
      if (isRefusal(rate)) return rate;
      const id = await openInvoice(db, {
        ...{ wallet, by, body, rate, feeCollector, signingKey },
        ...terms(),
        nowMs: clock(),
      });
      return typeof id === "string" ? recordOf(db, id) : id;
    };
    return { sealer, work };
  }

  /** The wallet's own invoice. */
  async function own(wallet: string, id: string): Promise<Invoice | Refusal> {
    const invoice = await findInvoice(pool, id);
    if (invoice === undefined) return unknown;
    return invoice.wallet === wallet ? invoice : otherWallet;
  }

  return {
    own,

    async create(
      { wallet, keyId }: Pick<KeyCaller, "wallet" | "keyId">,
      { body, idempotencyKey }: { body: InvoiceBody; idempotencyKey: string | undefined },
    ): Promise<InvoiceRecord | Refusal> {
      const key = idOf("key").parse(keyId);
      const making = makingOf({ wallet, body, by: { keyId: key } });
      if (isRefusal(making)) return making;
      const { sealer, work } = making;
      return turns.take<InvoiceRecord | Refusal>(wallet, () =>
        idempotencyKey === undefined
          ? transaction(pool, work)
          : onceByKey({
              ...{ pool, sealer, work, request: { keyId: key, idempotencyKey, asked: body } },
              parse: (json) => invoiceRecord.parse(json),
            }),
      );
    },

    /** By a page's form: the same form again is the same invoice, as it is by then. `formToken` is the form's own text. */
    async createByForm(
      wallet: string,
      { body, formToken }: { body: InvoiceBody; formToken: string },
    ): Promise<InvoiceRecord | Refusal> {
      const formHash = createHash("sha256").update(formToken).digest();
      const making = makingOf({ wallet, body, by: { formHash } });
      if (isRefusal(making)) return making;
      return turns.take<InvoiceRecord | Refusal>(wallet, () => transaction(pool, making.work));
    },

    async read(wallet: string, id: string): Promise<InvoiceRecord | Refusal> {
      const invoice = await own(wallet, id);
      return isRefusal(invoice) ? invoice : recordOf(pool, id);
    },

    /** With what its record does not tell programs. */
    async readWithHistory(
      wallet: string,
      id: string,
    ): Promise<{ invoice: InvoiceRecord; history: InvoiceHistory } | Refusal> {
      const invoice = await own(wallet, id);
      if (isRefusal(invoice)) return invoice;
      const [record, history] = await Promise.all([recordOf(pool, id), readInvoiceHistory(pool, id)]);
      return { invoice: record, history };
    },

    list: listPage,

    /** The newest invoices as a file, read in parts so that nothing else waits for long. */
    async csv(
      wallet: string,
      { filter, separator }: { filter: InvoiceFilter; separator: Separator },
    ): Promise<{ text: string } | Refusal> {
      let text = csvHead(separator);
      let cursor: string | undefined;
      for (let rows = 0; rows < csvRowsMax; rows += csvPageRows) {
        const page = await listPage(wallet, { filter, limit: csvPageRows, cursor });
        if (isRefusal(page)) return page;
        text += csvLines(page.data, separator);
        if (page.nextCursor === null) break;
        cursor = page.nextCursor;
      }
      return { text };
    },

    /** Passes on what lies in the box, whatever the invoice's state; the ledger books it when it is mined. */
    async collect(wallet: string, id: string): Promise<{ txHash: string } | Refusal> {
      const invoice = await own(wallet, id);
      if (isRefusal(invoice)) return invoice;
      const order = await findInvoiceOrder(pool, id);
      if (order === undefined) return otherChain;
      const done = await collectBox(order);
      if ("txHash" in done) return done;
      return refusal("invalid_params", `Nothing was sent. ${done.why}`);
    },

    /** Only while nothing has arrived. The same again changes nothing. `keyId` is null where the wallet itself asks. */
    async cancel(
      { wallet, keyId }: { wallet: string; keyId: string | null },
      id: string,
    ): Promise<InvoiceRecord | Refusal> {
      const invoice = await own(wallet, id);
      if (isRefusal(invoice)) return invoice;
      const { state } = invoice;
      if (state !== "canceled") {
        const isDone = await transaction(pool, async (db) => {
          const done = await cancelInvoice(db, id);
          const by =
            keyId === null
              ? { actor: "wallet" as const, about: { invoice: id } }
              : { actor: "key" as const, about: { invoice: id, key: keyId } };
          if (done) await writeAudit(db, { wallet, action: "invoice.canceled", ...by });
          return done;
        });
        if (!isDone) return notOpen((await findInvoice(pool, id))?.state ?? state);
      }
      return recordOf(pool, id);
    },
  };
}

function notOpen(state: string): Refusal {
  return refusal(
    "invalid_params",
    `Only an open invoice for which nothing has arrived can be cancelled; this one is ${state}`,
  );
}

const unknown = refusal("not_found", "There is no such invoice");
const otherWallet = refusal("forbidden", "This invoice belongs to another wallet than the key's");
const otherChain = refusal(
  "invalid_params",
  "This invoice is of an earlier chain: nothing can be passed on for it",
);
const notMade = refusal(
  "service_unavailable",
  "No invoices are made here: whoever runs this has set up no signer of them",
);
const onlyHttps = refusal("invalid_params", "The redirectUrl cannot be used; see errors", {
  errors: [{ pointer: "/redirectUrl", message: "An address that begins with https:// was expected" }],
});
const wrongCursor = refusal("invalid_params", "A parameter cannot be used; see errors", {
  errors: [{ pointer: "#/query/cursor", message: "The cursor is not one of this list's" }],
});
