import type { FastifyInstance } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { registerBuildInfo } from "../lib/version.ts";

/** What the API stands on. */
export type Dependency = "chain" | "redis" | "postgres";

export type ApiMetrics = ReturnType<typeof createApiMetrics>;

/**
 * The API's metrics, on its own registry. Labels are of closed sets only. `api/README.md` documents every name; a test
 * holds that list true. Those of the index are the follower's.
 */
export function createApiMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerBuildInfo(registry);
  const registers = [registry];
  return {
    registry,
    requests: new Counter({
      name: "tollgate_api_requests_total",
      help: "Requests that were answered, by the route's path (none: there is none) and the HTTP status",
      labelNames: ["route", "status"],
      registers,
    }),
    requestSeconds: new Histogram({
      name: "tollgate_api_request_seconds",
      help: "Time to an answer, in seconds",
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
  };
}

/** Counts each request when its answer has been sent; streams of live events, which have no end, are counted by their clients. */
export function measureRequests(
  app: FastifyInstance,
  { requests, requestSeconds }: Pick<ApiMetrics, "requests" | "requestSeconds">,
): void {
  app.addHook("onResponse", (request, reply, done) => {
    // Paths that there are not have no end; a route's path is one of the table.
    const route = request.is404 ? "none" : (request.routeOptions.url ?? "none");
    requests.inc({ route, status: String(reply.raw.statusCode) });
    requestSeconds.observe(reply.elapsedTime / 1000);
    done();
  });
}

/** What is looked at when somebody asks for the metrics. */
export function registerStateMetrics({
  registry,
  liveClients,
  eventStreams,
  paymentStreams,
  cacheBytes,
  isAway,
}: {
  registry: Registry;
  liveClients: () => number;
  eventStreams: () => number;
  paymentStreams: () => number;
  cacheBytes: () => number;
  isAway: Readonly<Record<Dependency, () => boolean>>;
}): void {
  const registers = [registry];
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  gauge("tollgate_api_live_clients", "Clients that listen to /api/v1/live", liveClients);
  gauge("tollgate_api_event_streams", "Programs that listen to /api/v1/svc-dev/v1/events", eventStreams);
  gauge(
    "tollgate_api_payment_streams",
    "Payment pages that listen for news of their payment",
    paymentStreams,
  );
  gauge("tollgate_api_answer_cache_bytes", "Bytes of finished answers that are kept", cacheBytes);
  new Gauge({
    name: "tollgate_api_dependency_away",
    aggregator: "max",
    help: "1 while what the API stands on does not answer: the chain, redis, postgres",
    labelNames: ["dependency"],
    registers,
    collect() {
      for (const [dependency, away] of Object.entries(isAway)) this.set({ dependency }, away() ? 1 : 0);
    },
  });
}
