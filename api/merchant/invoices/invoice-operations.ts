import { z } from "zod";
import { isRefusal } from "../../../lib/http-service/refusal.ts";
import { hash } from "../../records/values.ts";
import { noBody, type Operation, operation } from "../../rest/operation.ts";
import { cursor, limit, noParameters } from "../../rest/parameters.ts";
import { apiKeyWith } from "../../rest/security.ts";
import { idOf } from "../public-id.ts";
import { invoiceBody, reference } from "./invoice-body.ts";
import { csvRowsMax } from "./invoice-csv.ts";
import { invoiceRecord, invoiceState } from "./invoice-record.ts";
import type { Invoices } from "./invoices.ts";

export type InvoiceServices = { invoices: Invoices };

const path = "/api/v1/svc-dev/v1/invoices";

const idempotencyKeyExpected = "1 to 255 characters of ASCII without spaces were expected";
const createHeaders = {
  "Idempotency-Key": z
    .string(idempotencyKeyExpected)
    .regex(/^[\x21-\x7e]{1,255}$/, idempotencyKeyExpected)
    .optional()
    .meta({
      description:
        "A text of your own for this one invoice, such as a UUID. The same request with it answers the same invoice for 24 hours",
    }),
};

const dayExpected = "A date was expected: YYYY-MM-DD";
/** The year is one that PostgreSQL has. */
export const day = z.iso
  .date(dayExpected)
  .refine((text) => text >= "1970-01-01", dayExpected)
  .optional()
  .meta({ description: "A day in Jakarta", examples: ["2026-11-23"] });

const filter = {
  state: invoiceState.optional().meta({ description: "Only those in this state" }),
  reference: reference.optional().meta({ description: "The one with this reference of yours" }),
  from: day,
  to: day,
};
const answer = z.strictObject({ invoice: invoiceRecord }).meta({ id: "InvoiceAnswer" });

export const invoiceOperations: Operation<InvoiceServices>[] = [
  operation({
    ...{ method: "POST", path, operationId: "createInvoice", tag: "Developer API" },
    summary: "Makes an invoice; its payUrl is for the customer",
    description:
      "The price in tokens is fixed by the rate of this moment and held until `expiresAt`. What arrives at `depositAddress` until `watchUntil` is seen. Send an `Idempotency-Key`, so that a request whose answer was lost can be sent again.",
    security: apiKeyWith("invoices:write"),
    params: noParameters,
    query: noParameters,
    headers: createHeaders,
    body: invoiceBody,
    responses: { 201: answer },
    problems: [
      ...(["idempotency_in_progress", "idempotency_key_reused"] as const),
      ...(["rate_stale", "service_unavailable", "network_stalled"] as const),
    ],
    async answer({ body, headers, caller, services: { invoices } }) {
      const invoice = await invoices.create(caller, { body, idempotencyKey: headers["Idempotency-Key"] });
      return isRefusal(invoice) ? invoice : { status: 201, record: { invoice } };
    },
  }),
  operation({
    ...{ method: "GET", path, operationId: "listInvoices", tag: "Developer API" },
    summary: "The wallet's invoices, newest first",
    security: apiKeyWith("invoices:read"),
    params: noParameters,
    query: z.strictObject({ limit, cursor, ...filter }),
    body: noBody,
    responses: {
      200: z
        .strictObject({
          data: z.array(invoiceRecord),
          nextCursor: z
            .string()
            .nullable()
            .meta({ description: "Give it as `cursor` for the next page; null at the end" }),
        })
        .meta({ id: "InvoiceList" }),
    },
    problems: ["service_unavailable"],
    async answer({ query: { limit: count, cursor: after, ...wanted }, caller, services: { invoices } }) {
      const page = await invoices.list(caller.wallet, { filter: wanted, limit: count, cursor: after });
      return isRefusal(page) ? page : { status: 200, record: page };
    },
  }),
  operation({
    ...{ method: "GET", path: `${path}.csv`, operationId: "listInvoicesCsv", tag: "Developer API" },
    summary: `The wallet's newest invoices as a file, at most ${csvRowsMax}`,
    security: apiKeyWith("invoices:read"),
    cost: 10,
    params: noParameters,
    query: z.strictObject({
      ...filter,
      separator: z
        .enum([",", ";"], "A comma or a semicolon was expected")
        .optional()
        .meta({ description: "A semicolon for an Excel that writes decimals with a comma" }),
    }),
    body: noBody,
    responses: { 200: { mediaType: "text/csv", description: "RFC 4180, with a line of column names" } },
    problems: ["service_unavailable"],
    async answer({ query: { separator = ",", ...wanted }, caller, services: { invoices } }) {
      const file = await invoices.csv(caller.wallet, { filter: wanted, separator });
      return isRefusal(file)
        ? file
        : { status: 200, ...file, type: "text/csv; charset=utf-8", fileName: "invoices.csv" };
    },
  }),
  operation({
    ...{ method: "GET", path: `${path}/{id}`, operationId: "getInvoice", tag: "Developer API" },
    summary: "An invoice, and what has arrived for it",
    security: apiKeyWith("invoices:read"),
    params: z.strictObject({ id: idOf("inv") }),
    query: noParameters,
    body: noBody,
    responses: { 200: answer },
    problems: ["forbidden", "not_found", "service_unavailable"],
    async answer({ params, caller, services: { invoices } }) {
      const invoice = await invoices.read(caller.wallet, params.id);
      return isRefusal(invoice) ? invoice : { status: 200, record: { invoice } };
    },
  }),
  operation({
    ...{ method: "POST", path: `${path}/{id}/cancel`, operationId: "cancelInvoice", tag: "Developer API" },
    summary: "Cancels an invoice for which nothing has arrived; the same again changes nothing",
    description:
      "What arrives later is seen all the same: the invoice is then underpaid or paid late. No body is read.",
    security: apiKeyWith("invoices:write"),
    params: z.strictObject({ id: idOf("inv") }),
    query: noParameters,
    body: noBody,
    responses: { 200: answer },
    problems: ["forbidden", "not_found", "service_unavailable"],
    async answer({ params, caller, services: { invoices } }) {
      const invoice = await invoices.cancel(caller, params.id);
      return isRefusal(invoice) ? invoice : { status: 200, record: { invoice } };
    },
  }),
  operation({
    ...{ method: "POST", path: `${path}/{id}/collect`, operationId: "collectInvoice", tag: "Developer API" },
    summary: "Passes on what lies at an invoice's deposit address",
    description:
      "What is complete is passed on by itself, and so is what lies there at `watchUntil`. This is for the rest: a part before that, and what comes after it. The transaction costs you nothing. No body is read.",
    security: apiKeyWith("invoices:write"),
    cost: 5,
    params: z.strictObject({ id: idOf("inv") }),
    query: noParameters,
    body: noBody,
    responses: {
      202: z
        .strictObject({ collect: z.strictObject({ txHash: hash }) })
        .meta({ id: "CollectAnswer", description: "The transaction that was sent" }),
    },
    problems: ["forbidden", "not_found", "service_unavailable"],
    async answer({ params, caller, services: { invoices } }) {
      const collect = await invoices.collect(caller.wallet, params.id);
      return isRefusal(collect) ? collect : { status: 202, record: { collect } };
    },
  }),
];
