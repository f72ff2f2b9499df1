import { Counter, Gauge, type Registry } from "prom-client";
import { subscriptionKinds } from "../../subscriptions/read-subscription-request.ts";
import type { SubscriptionRegistry } from "../../subscriptions/subscription-registry.ts";
import { closeCodes } from "./close-codes.ts";
import type { Sockets } from "./sockets.ts";

/** Shows sockets and subscriptions at `/metrics`. */
export function registerSocketMetrics({
  registry,
  sockets,
  subscriptions,
}: {
  registry: Registry;
  sockets: Pick<Sockets, "count" | "ended">;
  subscriptions: Pick<SubscriptionRegistry, "count" | "logValues" | "notificationsSent">;
}): void {
  const registers = [registry];
  new Gauge({
    name: "tollgate_gateway_sockets",
    help: "WebSockets that are open",
    registers,
    collect() {
      this.set(sockets.count());
    },
  });
  new Gauge({
    name: "tollgate_gateway_subscriptions",
    help: "Subscriptions that are open, by kind",
    labelNames: ["kind"],
    registers,
    collect() {
      for (const kind of subscriptionKinds) this.set({ kind }, subscriptions.count(kind));
    },
  });
  new Gauge({
    name: "tollgate_gateway_log_values",
    help: "Addresses and topics that subscriptions of logs name; webSocket.logValuesMax bounds them",
    registers,
    collect() {
      this.set(subscriptions.logValues());
    },
  });
  new Counter({
    name: "tollgate_gateway_notifications_total",
    help: "Notifications sent to subscribers",
    registers,
    collect() {
      this.reset();
      this.inc(subscriptions.notificationsSent());
    },
  });
  new Counter({
    name: "tollgate_gateway_sockets_ended_total",
    help: "WebSockets closed by the gateway, by close code",
    labelNames: ["code"],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of sockets.ended()) this.inc({ code: closeCodes[reason].code }, count);
    },
  });
}
