import { report } from "node:process";
import type { Logger } from "pino";
import type { ConnectionSettings, GatewayConfig } from "../config.ts";

/** For Redis, the ops port and its clients, the log, the runtime itself, and connections that are being replaced. */
const reserved = 128;
/** With TLS the library accepts all connections in the listening socket's queue before we see the first of them. */
const acceptedAtOnceTls = 512;
/** For the connections that follow a validator's blocks and ping it. */
const besidesLanes = 4;
/** With fewer the gateway does not start. */
const connectionsMin = 16;

/** How many descriptors this process may have open; Node.js has raised the limit as far as it may be when it started. */
export function readDescriptorLimit(): number {
  // The report on open sockets takes time, so it is left out. (The typings do not know this option.)
  Reflect.set(report, "excludeNetwork", true);
  const told: unknown = report.getReport();
  const limit = softLimitOf(told);
  return limit ?? Number.POSITIVE_INFINITY;
}

/**
 * Lowers the number of connections to what the file descriptors of the process allow. A process without a free
 * descriptor cannot accept, and the library would try again without end.
 * @throws Error where too few are left to serve anybody.
 */
export function fitConnections({
  config: { connections, forward, upstreams, tls },
  descriptorsMax,
  logger,
}: {
  config: Pick<GatewayConfig, "connections" | "forward" | "upstreams" | "tls">;
  descriptorsMax: number;
  logger: Logger;
}): ConnectionSettings {
  const { light, call, slow } = forward.connections;
  const own =
    reserved +
    upstreams.length * (light + call + slow + besidesLanes) +
    (tls === undefined ? 0 : acceptedAtOnceTls);
  const max = Math.min(connections.max, descriptorsMax - own);
  if (max < connectionsMin) {
    throw new Error(
      `the process may have ${descriptorsMax} file descriptors and needs ${own} itself: allow at least ${own + connectionsMin} (ulimit -n)`,
    );
  }
  if (max < connections.max) {
    logger.warn(
      { descriptorsMax, neededItself: own, configured: connections.max, connectionsMax: max },
      "fewer connections than configured are taken: raise the limit of file descriptors (ulimit -n)",
    );
  }
  return { ...connections, max };
}

/** `userLimits.open_files.soft` of the runtime's report: a number, or "unlimited". */
function softLimitOf(told: unknown): number | undefined {
  const soft = memberOf(memberOf(memberOf(told, "userLimits"), "open_files"), "soft");
  return typeof soft === "number" ? soft : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(name);
}
