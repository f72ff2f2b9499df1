import { z } from "zod";
import { createKeptConfig } from "../upgrade/kept-config.ts";
import { type Services, serviceNames, type Told } from "../upgrade/services.ts";
import { readVersions } from "../upgrade/versions-file.ts";
import { acceptsConfig } from "./accepts-config.ts";
import type { Compose } from "./compose.ts";
import { lookAtImage } from "./look-at-image.ts";

/** The ports of their ops servers. */
const opsPorts = { gateway: 9540, "network-exporter": 9560, faucet: 5001, api: 5000, backup: 9570 } as const;
/** Those that can be asked whether they take a configuration. */
const reloadable = ["gateway", "faucet", "api"] as const;

const toldSchema = z.object({
  status: z.object({ version: z.string() }),
  readyz: z.object({ ready: z.boolean(), reasons: z.array(z.string()) }),
  metrics: z.string(),
});
/** Counters of requests by HTTP status: the gateway's and the api's. The faucet has none. */
const requestsLine = /^tollgate_(?:gateway|api)_requests_total\{.*?status="(\d+)".*?\} (\d+)/;

/** Asks all three pages of an ops server from inside the container, where its port is. The exporter waits for a validator that is down. */
function askScript(port: number): string {
  return (
    `const get = async (path) => (await fetch("http://127.0.0.1:${port}" + path, { signal: AbortSignal.timeout(10_000) }));` +
    `console.log(JSON.stringify({ status: await (await get("/status")).json(), readyz: await (await get("/readyz")).json(), metrics: await (await get("/metrics")).text() }));`
  );
}

/** `upBeside` starts services without their dependencies and waits for their health. */
export function createServices({
  folder,
  compose,
  upBeside,
}: {
  /** The network's. */
  folder: string;
  compose: Compose;
  upBeside: (names: readonly string[], signal: AbortSignal) => Promise<string | undefined>;
}): Services {
  const kept = createKeptConfig({ folder, configFolder: compose.configFolder });
  return {
    async running() {
      const states = await compose.states();
      return serviceNames.filter((name) => states.get(name) === "running");
    },
    look: (image, { fetch }) =>
      lookAtImage({
        image,
        fetch,
        docker: compose.docker,
        run: { options: ["--entrypoint", "node"], words: ["-p", 'require("/app/package.json").version'] },
        read: (text) => /^\d+\.\d+\.\d+\S*$/m.exec(text)?.[0],
      }),
    async tell(service) {
      const port = serviceNames.find((name) => name === service);
      if (port === undefined) return undefined;
      const text = await compose.evaluate(service, askScript(opsPorts[port]));
      return text === undefined ? undefined : readTold(text);
    },
    async keepConfig() {
      const { image } = await readVersions(folder);
      const states = await compose.states();
      const asked = reloadable.filter((name) => states.get(name) === "running");
      // Who reads kept files has not seen config/.
      if (asked.length === 0 || image.config !== undefined) return;
      const ports = Object.fromEntries(asked.map((name) => [name, opsPorts[name]]));
      await kept.keep(() => acceptsConfig(compose, ports));
    },
    kept,
    up: (service, signal) => upBeside([service], signal),
    runs: compose.runsImage,
    identityOf: (service) => compose.identityOf(service),
  };
}

function readTold(text: string): Told | undefined {
  try {
    const { status, readyz, metrics } = toldSchema.parse(JSON.parse(text));
    let [requests, failures] = [0, 0];
    for (const line of metrics.split("\n")) {
      const [, code, count] = requestsLine.exec(line) ?? [];
      if (code === undefined) continue;
      requests += Number(count);
      if (code.startsWith("5")) failures += Number(count);
    }
    return { version: status.version, ready: readyz.ready, reasons: readyz.reasons, requests, failures };
  } catch {
    return undefined;
  }
}
