import { type KeyServices, keyOperations } from "../merchant/api-keys/key-operations.ts";
import { type DashboardServices, dashboardOperations } from "../merchant/dashboard/dashboard-operations.ts";
import { type EventServices, eventOperations } from "../merchant/events/event-operations.ts";
import { type InvoiceServices, invoiceOperations } from "../merchant/invoices/invoice-operations.ts";
import { type OrderServices, orderOperations } from "../merchant/orders/order-operations.ts";
import { type SessionServices, sessionOperations } from "../merchant/session/session-operations.ts";
import { type SettingsServices, settingsOperations } from "../merchant/settings/settings-operations.ts";
import { type WebhookServices, webhookOperations } from "../merchant/webhooks/webhook-operations.ts";
import type { Operation } from "./operation.ts";

/** What the operations are carried out with: each room of the merchant side adds what its own need. */
export type Services = SessionServices &
  OrderServices &
  KeyServices &
  DashboardServices &
  InvoiceServices &
  EventServices &
  WebhookServices &
  SettingsServices;

/** Every operation of REST v1: what changes something, or is for somebody known. */
export const operations: Operation<Services>[] = [
  ...sessionOperations,
  ...orderOperations,
  ...keyOperations,
  ...dashboardOperations,
  ...invoiceOperations,
  ...eventOperations,
  ...webhookOperations,
  ...settingsOperations,
];
