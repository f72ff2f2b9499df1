import { z } from "zod";
import { isRefusal, refusal } from "../../../lib/http-service/refusal.ts";
import { address, integer } from "../../records/values.ts";
import { noBody, type Operation, operation } from "../../rest/operation.ts";
import { accountAddress, noParameters, transactionHash } from "../../rest/parameters.ts";
import { keyScopes, walletSession } from "../../rest/security.ts";
import type { DashboardServices } from "../dashboard/dashboard-operations.ts";
import { dashboardRecord } from "../dashboard/dashboard-record.ts";
import { keyLabel, keyPackage, scopesOfKey } from "../orders/key-request.ts";
import type { OrderServices } from "../orders/order-operations.ts";
import { orderRecord, webhookOrderRecord } from "../orders/order-record.ts";
import { idOf } from "../public-id.ts";
import type { WebhookServices } from "../webhooks/webhook-operations.ts";
import { webhookRecord } from "../webhooks/webhook-record.ts";
import { keyRecord, newKeyRecord } from "./api-key.ts";
import type { ApiKeys } from "./api-keys.ts";

export type KeyServices = OrderServices & DashboardServices & WebhookServices & { keys: ApiKeys };

/** A wallet has five active keys; of older ones so many are told. */
const keysToldMax = 100;
const ordersToldMax = 20;

const keyBody = z
  .strictObject({
    package: keyPackage.optional(),
    label: keyLabel.optional(),
    scopes: scopesOfKey.optional(),
    orderId: idOf("ord").optional(),
    txHash: transactionHash
      .optional()
      .meta({ description: "The transaction that paid, to learn why one was reverted" }),
  })
  .check(({ value, issues }) => {
    const issue = (path: string, message: string) =>
      issues.push({ code: "custom", input: undefined, path: [path], message });
    if (value.orderId === undefined) {
      if (value.package === undefined)
        issue("package", "A package was expected, or the orderId of an order that is paid");
      if (value.txHash !== undefined) issue("txHash", "This belongs to an orderId");
      return;
    }
    for (const name of ["package", "label", "scopes"] as const) {
      if (value[name] !== undefined) issue(name, "The order has it: leave it out beside an orderId");
    }
  });

export const keyOperations: Operation<KeyServices>[] = [
  operation({
    method: "POST",
    path: "/api/v1/svc-dev/keys",
    operationId: "createKey",
    tag: "Wallet session",
    summary: "Buys an API key: first the order (402), then, once it is paid, the key",
    description:
      "With a `package` it answers 402 with an `order`, whose `transaction` a wallet can send unchanged. The same request with `orderId` in place of the package answers 201 with the key and its secret, once; 402 and Retry-After while the payment is not booked. Within 15 minutes, and until the key is used, it answers the same secret again.",
    security: walletSession,
    params: noParameters,
    query: noParameters,
    body: keyBody,
    responses: { 201: z.strictObject({ key: newKeyRecord }).meta({ id: "NewApiKeyAnswer" }) },
    problems: [
      ...(["payment_required", "payment_already_used", "key_limit_reached", "not_found"] as const),
      ...(["service_unavailable", "network_stalled"] as const),
    ],
    problemMembers: { payment_required: z.object({ order: orderRecord }) },
    async answer({ body, caller, services: { orders, keys } }) {
      const { wallet } = caller;
      const { orderId, txHash, package: name, label = "", scopes = [...keyScopes] } = body;
      if (orderId !== undefined) {
        const key = await keys.issue(wallet, { orderId, txHash });
        return isRefusal(key) ? key : { status: 201, record: { key } };
      }
      if (name === undefined) throw new Error("a body without orderId has a package");
      return orders.open(wallet, { package: name, label, scopes });
    },
  }),
  operation({
    method: "POST",
    path: "/api/v1/svc-dev/keys/revoke",
    operationId: "revokeKey",
    tag: "Wallet session",
    summary: "Revokes an API key, for good; the same again changes nothing",
    security: walletSession,
    params: noParameters,
    query: noParameters,
    body: z.strictObject({ keyId: idOf("key") }),
    responses: { 200: z.strictObject({ key: keyRecord }).meta({ id: "ApiKeyAnswer" }) },
    problems: ["not_found", "service_unavailable"],
    async answer({ body, caller, services: { keys } }) {
      const key = await keys.revoke(caller.wallet, body.keyId);
      return isRefusal(key) ? key : { status: 200, record: { key } };
    },
  }),
  operation({
    method: "GET",
    path: "/api/v1/svc-dev/summary/{address}",
    operationId: "getSummary",
    tag: "Wallet session",
    summary: "A wallet's keys, orders, webhook and dashboard",
    security: walletSession,
    params: z.strictObject({ address: accountAddress }),
    query: noParameters,
    body: noBody,
    responses: {
      200: z
        .strictObject({
          wallet: address,
          keys: z.array(keyRecord).meta({ description: `Newest first, at most ${keysToldMax}` }),
          orders: z
            .array(z.union([orderRecord, webhookOrderRecord]))
            .meta({ description: `Of keys and of a webhook's fee, newest first, at most ${ordersToldMax}` }),
          webhook: webhookRecord.nullable(),
          dashboard: dashboardRecord,
          limits: z.strictObject({
            activeKeys: integer,
            activeKeysMax: integer,
            webhookFeePaid: z.boolean(),
          }),
        })
        .meta({ id: "WalletSummary" }),
    },
    problems: ["service_unavailable"],
    async answer({ params, caller, services: { orders, keys, dashboard, webhooks } }) {
      if (params.address !== caller.wallet) return otherWallet;
      const { wallet } = caller;
      const [keyList, orderList, overview, webhook, webhookFeePaid] = await Promise.all([
        keys.list(wallet, keysToldMax),
        orders.list(wallet, ordersToldMax),
        dashboard.read(wallet),
        webhooks.find(wallet),
        orders.isWebhookPaid(wallet),
      ]);
      const { active, max } = overview.keys;
      return {
        status: 200,
        record: {
          wallet,
          keys: keyList,
          orders: orderList.map(orders.recordOf),
          webhook,
          dashboard: overview,
          limits: { activeKeys: active, activeKeysMax: max, webhookFeePaid },
        },
      };
    },
  }),
];

const otherWallet = refusal("forbidden", "This belongs to another wallet than the session's");
