import { z } from "zod";
import { isRefusal } from "../../../lib/http-service/refusal.ts";
import { integer } from "../../records/values.ts";
import { noBody, type Operation, operation } from "../../rest/operation.ts";
import { limit, noParameters, transactionHash } from "../../rest/parameters.ts";
import { walletSession } from "../../rest/security.ts";
import { webhookOrderRecord } from "../orders/order-record.ts";
import { idOf, publicId } from "../public-id.ts";
import { moment } from "../times.ts";
import { deliveryDetails, deliveryRecord, deliveryStates } from "./delivery-record.ts";
import { webhookRecord, webhookWithSecret } from "./webhook-record.ts";
import { webhookUrl } from "./webhook-url.ts";
import type { Webhooks } from "./webhooks.ts";

export type WebhookServices = { webhooks: Webhooks };

const root = "/api/v1/svc-dev/webhooks";
const noFields = z.strictObject({}, "An empty object was expected: {}");
const webhookAnswer = z.strictObject({ webhook: webhookRecord }).meta({ id: "WebhookAnswer" });
const secretAnswer = z.strictObject({ webhook: webhookWithSecret }).meta({ id: "NewWebhookAnswer" });

const saveBody = z.strictObject({
  url: webhookUrl,
  orderId: idOf("ord").optional(),
  txHash: transactionHash
    .optional()
    .meta({ description: "The transaction that paid, to learn why one was reverted" }),
});

const sinceExpected = "A time was expected, as 2026-11-23T08:00:00Z, or its Unix seconds";
const since = z
  .union([z.iso.datetime({ offset: true }), z.int().min(0).max(4_102_444_800)], sinceExpected)
  .transform((at) => new Date(typeof at === "number" ? at * 1000 : at))
  .meta({ description: "Events that were written then or later: ISO 8601, or Unix seconds" });

const replayBody = z
  .strictObject({ eventId: idOf("evt").optional(), since: since.optional() })
  .check(({ value, issues }) => {
    if ((value.eventId === undefined) !== (value.since === undefined)) return;
    issues.push({
      ...{ code: "custom", input: undefined, path: [] },
      message: "An eventId or a time since was expected, and one of them",
    });
  });

const beforeExpected = "The nextBefore of the page before was expected";
const page = z.strictObject({
  limit,
  before: z
    .string(beforeExpected)
    .regex(/^[1-9][0-9]{0,14}$/, beforeExpected)
    .transform(Number)
    .optional()
    .meta({ description: "`nextBefore` of the page before", type: "integer", minimum: 1 }),
  state: z
    .enum(deliveryStates, `One of ${deliveryStates.join(", ")} was expected`)
    .optional()
    .meta({ description: "Only those in this state" }),
});

const session = {
  ...{ tag: "Wallet session" as const, security: walletSession },
  ...{ params: noParameters, query: noParameters },
};
const post = { ...session, method: "POST" as const };

export const webhookOperations: Operation<WebhookServices>[] = [
  operation({
    ...post,
    ...{ path: root, operationId: "saveWebhook" },
    summary: "Saves the URL that is told of the wallet's payments; the first one costs a fee, once",
    description:
      "The first time it answers 402 with an `order`; once that is paid, the same request with its `orderId` answers 201 with the secret, this once. Later it answers 200 without one. A webhook that was disabled is enabled by a new URL.",
    body: saveBody,
    responses: { 200: webhookAnswer, 201: secretAnswer },
    problems: [
      ...(["payment_required", "not_found", "forbidden"] as const),
      ...(["service_unavailable", "network_stalled"] as const),
    ],
    problemMembers: { payment_required: z.object({ order: webhookOrderRecord }) },
    async answer({ body: { url, orderId, txHash }, caller, services: { webhooks } }) {
      const saved = await webhooks.save(caller.wallet, { url, orderId, txHash });
      if (isRefusal(saved)) return saved;
      const { webhook, secret } = saved;
      return secret === undefined
        ? { status: 200, record: { webhook } }
        : { status: 201, record: { webhook: { ...webhook, secret } } };
    },
  }),
  operation({
    ...post,
    ...{ path: `${root}/test`, operationId: "testWebhook", cost: 5 },
    summary: "Sends a webhook.test to the saved URL, once, and tells what came of it",
    description: "At most 10 a minute. It waits for the receiver, 15 seconds at most.",
    body: noFields,
    responses: {
      200: z
        .strictObject({
          event: z.strictObject({ id: z.string(), type: z.literal("webhook.test"), sequence: integer }),
          attempt: z.strictObject({
            status: integer.nullable().meta({ description: "null: nothing was answered" }),
            tookMs: integer,
            error: z.string().nullable(),
            answerStart: z.string(),
          }),
        })
        .meta({ id: "WebhookTest" }),
    },
    problems: ["not_found", "service_unavailable"],
    async answer({ caller, services: { webhooks } }) {
      const tested = await webhooks.test(caller.wallet);
      if (isRefusal(tested)) return tested;
      const { id, sequence } = tested.event;
      const { status, tookMs, error, answerStart } = tested.sent;
      return {
        status: 200,
        record: {
          event: { id: publicId("evt", id), type: "webhook.test", sequence },
          attempt: { status, tookMs, error, answerStart },
        },
      };
    },
  }),
  operation({
    ...post,
    ...{ path: `${root}/rotate`, operationId: "rotateWebhookSecret" },
    summary: "Gives the webhook a new secret; for 24 hours both sign",
    description:
      "`webhook-signature` then has two signatures; `X-Svc-Signature` stays with the old secret, and `X-Svc-Signature-Next` has the new one's.",
    body: noFields,
    responses: { 200: secretAnswer },
    problems: ["not_found", "service_unavailable"],
    async answer({ caller, services: { webhooks } }) {
      const webhook = await webhooks.rotate(caller.wallet);
      return isRefusal(webhook) ? webhook : { status: 200, record: { webhook } };
    },
  }),
  operation({
    ...post,
    ...{ path: `${root}/rotate/finish`, operationId: "finishWebhookRotation" },
    summary: "Ends the overlap: the old secret signs no more",
    body: noFields,
    responses: { 200: webhookAnswer },
    problems: ["not_found", "service_unavailable"],
    async answer({ caller, services: { webhooks } }) {
      const webhook = await webhooks.finishRotation(caller.wallet);
      return isRefusal(webhook) ? webhook : { status: 200, record: { webhook } };
    },
  }),
  operation({
    ...post,
    ...{ path: `${root}/enable`, operationId: "enableWebhook" },
    summary: "Lets a disabled webhook be sent to again",
    body: noFields,
    responses: { 200: webhookAnswer },
    problems: ["not_found", "service_unavailable"],
    async answer({ caller, services: { webhooks } }) {
      const webhook = await webhooks.enable(caller.wallet);
      return isRefusal(webhook) ? webhook : { status: 200, record: { webhook } };
    },
  }),
  operation({
    ...post,
    ...{ path: `${root}/replay`, operationId: "replayWebhooks", cost: 5 },
    summary: "Sends one event again, or all since a time, with the same id and body",
    description:
      "At most 1 000 at once, the oldest first: `hasMore` tells that there are more since `lastAt`. What is under way is left alone.",
    body: replayBody,
    responses: {
      202: z
        .strictObject({
          replayed: integer,
          hasMore: z.boolean(),
          lastAt: moment.nullable(),
          lastAtUnix: integer.nullable(),
        })
        .meta({ id: "WebhookReplay" }),
    },
    problems: ["request_refused", "not_found", "service_unavailable"],
    async answer({ body, caller, services: { webhooks } }) {
      const { eventId, since: at } = body;
      const replayed = await webhooks.replay(
        caller.wallet,
        eventId === undefined ? { since: at ?? new Date(0) } : { eventId },
      );
      return isRefusal(replayed) ? replayed : { status: 202, record: replayed };
    },
  }),
  operation({
    ...{ ...session, method: "GET", query: page },
    ...{ path: `${root}/deliveries`, operationId: "listWebhookDeliveries" },
    summary: "What became of the wallet's events, newest first",
    description: "They are kept for 30 days.",
    body: noBody,
    responses: {
      200: z
        .strictObject({ data: z.array(deliveryRecord), nextBefore: integer.nullable() })
        .meta({ id: "WebhookDeliveryList" }),
    },
    problems: ["service_unavailable"],
    async answer({ query, caller, services: { webhooks } }) {
      return { status: 200, record: await webhooks.deliveries(caller.wallet, query) };
    },
  }),
  operation({
    ...{ ...session, method: "GET", params: z.strictObject({ eventId: idOf("evt") }) },
    ...{ path: `${root}/deliveries/{eventId}`, operationId: "getWebhookDelivery" },
    summary: "What of an event was sent, and what was answered each time",
    body: noBody,
    responses: { 200: z.strictObject({ delivery: deliveryDetails }).meta({ id: "WebhookDeliveryAnswer" }) },
    problems: ["not_found", "service_unavailable"],
    async answer({ params, caller, services: { webhooks } }) {
      const delivery = await webhooks.delivery(caller.wallet, params.eventId);
      return isRefusal(delivery) ? delivery : { status: 200, record: { delivery } };
    },
  }),
];
