import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Registry } from "prom-client";
import { isFromHere } from "./http-service/from-here.ts";
import { createIsOwnHost, notOwnHost } from "./http-service/own-host.ts";
import { problemDocument, problemType } from "./http-service/problem.ts";
import { productVersion } from "./version.ts";

export type Readiness = { ready: boolean; degraded?: boolean; reasons: readonly string[] };

/** An answer of the ops server, as JSON. */
export type OpsAnswer = { status: number; body: object };

export type OpsServer = { host: string; port: number; stop(): Promise<void> };

/**
 * The server that each process has beside its public one, for operators on a loopback or private network:
 *
 * - `GET /livez` 200 while the process runs
 * - `GET /readyz` 200 `{ready: true, degraded, reasons}` while it can serve, else 503
 * - `GET /status` its version and what the process knows of itself, as JSON
 * - `GET /metrics` Prometheus text format
 * - `POST /reload` has the process read its configuration again, with `?dry-run` only check it
 * - `POST /restart` has workers replaced one after the other
 *
 * Both are for programs on this machine alone, never for a web page, and take no body.
 *
 * They are answered to a `Host` of this server alone: loopback, the address that it listens on, one of `hosts`.
 *
 * @throws Error where the port is taken.
 */
export async function startOpsServer({
  host,
  port,
  hosts,
  registry,
  readiness,
  status,
  reload,
  restart,
}: {
  host: string;
  port: number;
  hosts: readonly string[];
  registry: Pick<Registry, "contentType" | "metrics">;
  readiness: () => Readiness | Promise<Readiness>;
  status: () => object | Promise<object>;
  /** Undefined where the configuration cannot be read again. */
  reload?: ((options: { dryRun: boolean }) => OpsAnswer | Promise<OpsAnswer>) | undefined;
  /** Undefined where one process serves: it cannot be replaced without a break. */
  restart?: (() => OpsAnswer) | undefined;
}): Promise<OpsServer> {
  const pages: Readonly<Record<string, () => Promise<{ status: number; type: string; body: string }>>> = {
    "/livez": async () => json(200, { live: true }),
    "/readyz": async () => {
      const { ready, degraded = false, reasons } = await readiness();
      return json(ready ? 200 : 503, { ready, degraded, reasons });
    },
    "/status": async () => json(200, { version: productVersion, ...(await status()) }),
    "/metrics": async () => ({ status: 200, type: registry.contentType, body: await registry.metrics() }),
  };
  const isOwnHost = createIsOwnHost({ hosts });
  const server = createServer((request, response) => {
    const respond: Respond = ({ status, type, body }) => {
      response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(body);
    };
    const [path = "/", query = ""] = (request.url ?? "/").split("?", 2);
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (!isOwnHost(request)) {
      respond(forbidden);
    } else if (path === "/reload" && reload !== undefined) {
      const refusal = refuseCommand(request, query, ["", dryRunQuery]);
      if (request.method !== "POST") response.setHeader("Allow", "POST");
      void carryOut(respond, refusal, () => reload({ dryRun: query === dryRunQuery }));
    } else if (path === "/restart") {
      const refusal = refuseCommand(request, query, [""]);
      if (request.method !== "POST") response.setHeader("Allow", "POST");
      void carryOut(respond, refusal, restart ?? notReplaceable);
    } else if (page === undefined) {
      respond(json(404, { detail: `Here are ${Object.keys(pages).join(", ")}` }));
    } else if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("Allow", "GET, HEAD");
      respond(json(405, { detail: "This server only answers GET" }));
    } else {
      page().then(respond, () => respond(json(500, { detail: "The page could not be made" })));
    }
  });
  server.requestTimeout = 10_000;
  server.headersTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(new Error(`${host}:${port} cannot be listened on`, { cause })));
    server.listen(port, host, resolve);
  });
  return {
    host,
    port: portOf(server.address()) ?? port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function portOf(address: AddressInfo | string | null): number | undefined {
  return typeof address === "object" ? address?.port : undefined;
}

function json(status: number, value: object, type = "application/json") {
  return { status, type, body: `${JSON.stringify(value, undefined, 2)}\n` };
}

const dryRunQuery = "dry-run";

type Respond = (answer: { status: number; type: string; body: string }) => void;

async function carryOut(
  respond: Respond,
  refusal: OpsAnswer | undefined,
  command: () => OpsAnswer | Promise<OpsAnswer>,
): Promise<void> {
  try {
    const { status, body } = refusal ?? (await command());
    respond(json(status, body, refusal === undefined ? undefined : problemType));
  } catch {
    respond(json(500, { detail: "It could not be carried out" }));
  }
}

function notReplaceable(): OpsAnswer {
  const problems = [
    "one process serves here: it is restarted by stopping and starting it (workers in its configuration)",
  ];
  return { status: 409, body: { outcome: "refused", problems } };
}

/** Why this request may not command the process; undefined where it may. */
function refuseCommand(
  { method, headers, socket }: IncomingMessage,
  query: string,
  queries: readonly string[],
): OpsAnswer | undefined {
  const refuse = (condition: "method_not_allowed" | "forbidden" | "invalid_request", detail: string) => {
    const body = problemDocument({ condition, detail });
    return { status: body.status, body };
  };
  if (method !== "POST") return refuse("method_not_allowed", "It is asked for with POST");
  if (!isFromHere(socket)) return refuse("forbidden", "Only a program on the same machine may ask for it");
  // Browsers send one of them with each POST.
  if (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined) {
    return refuse("forbidden", "No web page may ask for it");
  }
  if ((headers["content-length"] ?? "0") !== "0" || headers["transfer-encoding"] !== undefined) {
    return refuse("invalid_request", "It takes no body: the process reads the file that it was started with");
  }
  if (!queries.includes(query)) return refuse("invalid_request", "Only ?dry-run is known, of /reload");
  return undefined;
}

const refused = problemDocument({ condition: "forbidden", detail: `${notOwnHost} (ops.hosts)` });
const forbidden = json(refused.status, refused, problemType);
