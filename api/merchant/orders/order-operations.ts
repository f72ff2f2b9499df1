import { z } from "zod";
import { splitFee } from "../../../lib/fee-collector/split-fee.ts";
import { refusal } from "../../../lib/http-service/refusal.ts";
import { amount, integer } from "../../records/values.ts";
import { noBody, type Operation, operation } from "../../rest/operation.ts";
import { noParameters } from "../../rest/parameters.ts";
import { keyScopes, noSecurity, walletSession } from "../../rest/security.ts";
import { packageNames, packages } from "../packages.ts";
import { idOf } from "../public-id.ts";
import { orderOfOther } from "./order.ts";
import {
  orderRecord,
  platformToken,
  tokenRecord,
  tokens,
  tokensOf,
  webhookOrderRecord,
} from "./order-record.ts";
import type { Orders } from "./orders.ts";

export type OrderServices = { orders: Orders };

const packageRecord = z
  .strictObject({
    package: z.enum(packageNames),
    title: z.string(),
    days: integer,
    amount: tokens,
    amountWei: amount,
    burnedWei: amount,
    token: tokenRecord,
    scopes: z.array(z.enum(keyScopes)).meta({ description: "What a key of it can be given" }),
  })
  .meta({ id: "Package", description: "A package of the developer API" });

export const orderOperations: Operation<OrderServices>[] = [
  operation({
    method: "GET",
    path: "/api/v1/svc-dev/packages",
    operationId: "listPackages",
    tag: "Developer API",
    summary: "The packages that keys are sold in, and what each costs",
    security: noSecurity,
    params: noParameters,
    query: noParameters,
    body: noBody,
    responses: { 200: z.strictObject({ data: z.array(packageRecord) }).meta({ id: "PackageList" }) },
    answer: ({ services: { orders } }) => ({
      status: 200,
      record: {
        data: packageNames.map((name) => {
          const price = orders.terms.prices[name];
          return {
            package: name,
            ...packages[name],
            amount: tokensOf(price),
            amountWei: String(price),
            burnedWei: String(splitFee(price).burned),
            token: platformToken,
            scopes: keyScopes,
          };
        }),
      },
    }),
  }),
  operation({
    method: "GET",
    path: "/api/v1/svc-dev/orders/{id}",
    operationId: "getOrder",
    tag: "Wallet session",
    summary: "An order of the wallet, and whether it is paid",
    security: walletSession,
    params: z.strictObject({ id: idOf("ord") }),
    query: noParameters,
    body: noBody,
    responses: {
      200: z.strictObject({ order: z.union([orderRecord, webhookOrderRecord]) }).meta({ id: "OrderAnswer" }),
    },
    problems: ["not_found", "service_unavailable"],
    async answer({ params, caller, services: { orders } }) {
      const order = await orders.findAny(params.id);
      if (order === undefined) return refusal("not_found", "There is no such order");
      if (order.wallet !== caller.wallet) return orderOfOther;
      return { status: 200, record: { order: orders.recordOf(order) } };
    },
  }),
];
