import type { Logger } from "pino";
import {
  createReloader,
  type Prepared,
  type ReadAgain,
  type Reloader,
  type Staging,
} from "../lib/reload/reloader.ts";
import type { ConnectionSettings, GatewayConfig } from "./config.ts";
import { keepRules } from "./methods/keep-rules.ts";
import { readMethodTable } from "./methods/method-table.ts";
import { CertificateError, readCertificate } from "./server/certificate.ts";
import { fitConnections } from "./server/descriptors.ts";
import type { Serving, Settings } from "./start-serving.ts";
import type { NamedUpstream } from "./upstream/named-upstreams.ts";
import type { Upstream } from "./upstream/upstream.ts";

/** What may change while the gateway runs. All else is fixed when its parts are made. */
export const live = [
  "log.level",
  "upstreams",
  "methodsFile",
  "methods",
  "tls",
  "trustedProxies",
  "faucetUrl",
  "limits",
  "connections",
  "bodies",
  "answers",
  "filters",
  "traces.gasMax",
  "traces.callsMax",
  "traces.heavyOptions",
  "webSocket.connectionsPerKeyMax",
  "webSocket.subscriptionsPerConnectionMax",
  "webSocket.logSubscriptionsPerKeyMax",
  "webSocket.logValuesPerKeyMax",
  "webSocket.logValuesMax",
  "webSocket.framesPerSecondMax",
  "webSocket.framesInFlightMax",
  "webSocket.waitingBytesMax",
  "drainDelayMs",
  "stopTimeoutMs",
] as const;

export type GatewayReloader = Reloader & Staging<Settings>;

/** Has a running gateway read its configuration and its method table again. */
export function createGatewayReloader({
  running,
  readAgain,
  serving,
  upstream,
  connectionSettings,
  descriptorsMax,
  logger,
  monotonicMs,
}: {
  /** What the gateway's parts read. It is changed in place. */
  running: Settings;
  readAgain: ReadAgain<GatewayConfig>;
  serving: Serving;
  upstream: Pick<Upstream, "problem" | "configure" | "setLogLevel">;
  /** What the bounds on connections came to. It is changed in place. */
  connectionSettings: ConnectionSettings;
  descriptorsMax: number;
  logger: Logger;
  monotonicMs: () => number;
}): GatewayReloader {
  function prepare(next: Settings): Prepared {
    const { tls } = next.config;
    if ((tls === undefined) !== (running.config.tls === undefined)) {
      return { problems: ["tls cannot be turned on or off without a restart"] };
    }
    const fitted = fitOrProblem(next.config);
    if (typeof fitted === "string") return { problems: [`connections: ${fitted}`] };
    const problem = tls === undefined ? undefined : certificateProblem(tls);
    if (problem !== undefined) return { problems: [`tls: ${problem}`] };
    const tooMany = upstream.problem(next.config.upstreams);
    if (tooMany !== undefined) return { problems: [`upstreams: ${tooMany}`] };
    return {
      commit() {
        const methods = keepRules(next.methods, running.methods);
        serving.use({ config: next.config, methods });
        if (tls !== undefined) serving.http.useCertificate(tls);
        Object.assign(connectionSettings, fitted);
        upstream.configure(next.config.upstreams);
        logger.level = next.config.log.level;
        upstream.setLogLevel(next.config.log.level);
        running.methods = methods;
        takeBounds(running.config, next.config);
      },
    };
  }

  function fitOrProblem(config: GatewayConfig): ConnectionSettings | string {
    try {
      return fitConnections({ config, descriptorsMax, logger });
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  return createReloader({
    running,
    readAgain,
    load: (config) => ({ config, methods: readMethodTable(config.methodsFile) }),
    comparable,
    live,
    prepare,
    logger,
    monotonicMs,
  });
}

/** The configuration by the names of its file, with what stands in the method table beside it. */
function comparable({ config, methods: { rules, refused, explorerCost } }: Settings): object {
  const upstreams = Object.fromEntries(
    config.upstreams.map((upstream) => [upstream.name, shownUpstream(upstream)]),
  );
  return { ...config, upstreams, methods: { ...Object.fromEntries(rules), refused, explorerCost } };
}

/** Its address, and what else is said of it where that is not what all have. */
function shownUpstream({ url, weight = 1, role = "validator" }: NamedUpstream): object | string {
  return weight === 1 && role === "validator" ? url : { url, weight, role };
}

/** The parts have the objects of `config`, and read their bounds each time. */
function takeBounds(config: GatewayConfig, next: GatewayConfig): void {
  for (const name of ["limits", "bodies", "answers", "filters"] as const) {
    Object.assign(config[name], next[name]);
  }
  Object.assign(config.webSocket, next.webSocket);
  config.upstreams = next.upstreams;
  config.drainDelayMs = next.drainDelayMs;
  config.stopTimeoutMs = next.stopTimeoutMs;
  config.tls = next.tls;
}

function certificateProblem(files: { certFile: string; keyFile: string }): string | undefined {
  try {
    readCertificate(files);
    return undefined;
  } catch (error) {
    if (error instanceof CertificateError) return error.message;
    throw error;
  }
}
