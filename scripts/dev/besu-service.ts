import { readdir } from "node:fs/promises";
import { upstreamsText } from "../../gateway/upstream/named-upstreams.ts";
import type { NetworkConfig } from "../../genesis/config.ts";
import { readManifest } from "../../genesis/manifest.ts";
import { planNetwork } from "../../genesis/network-files.ts";
import { createNodeKey } from "../../genesis/node-key.ts";
import { writeNetwork } from "../../genesis/write-network.ts";
import { bringUp } from "../network/bring-up.ts";
import { type NativeNodes, openNativeNodes } from "../network/native/native-nodes.ts";
import type { Nodes } from "../network/nodes.ts";
import { createPlainProgress } from "../network/output/progress-view.ts";
import { createNodeChoice } from "./node-choice.ts";
import type { Service, ServiceContext, ServiceRow } from "./service.ts";

/**
 * Runs the validators of the network in `.data/besu/network`, as `npm run network -- up --native` does, and makes the
 * network where there is none. A validator that ends by itself ends nothing else, so that one can watch the network
 * bear it.
 */
export function besuService({ config }: { config: NetworkConfig }): Service {
  return {
    name: "validators",
    // The code that starts them checks their ports.
    ports: [],
    async start(context) {
      const { env, data, addresses, stopping, say, childLine, onStop } = context;
      const folder = data.chain;
      const failure = await makeNetwork({ folder, config, say });
      if (failure !== undefined) return failure;
      const read = readManifest(folder);
      if ("problem" in read) {
        return { failed: `${read.problem}\nTo begin anew: npm start -- --besu --reset` };
      }
      const { manifest } = read;
      const nodes = await openNativeNodes({ folder, manifest, portBase: config.native.portBase, env });
      const { guarded, stop } = guardNodes({ nodes, guard: context.guard });
      // Validators left over from a killed start end first: one that kept running may be in a long round.
      await Promise.all(nodes.list.map(({ name }) => nodes.stop(name)));
      onStop(stop);
      const progress = createPlainProgress({ write: (text) => childLine("besu", text.trimEnd()) });
      const names = nodes.list.map(({ name }) => name);
      const up = await bringUp({ nodes: guarded, names, signal: stopping, progress });
      if ("failed" in up) return { failed: up.failed };
      childLine("besu", `block ${up.height} after ${Math.round(up.tookMs / 1000)} s; to see how they are:`);
      childLine("besu", `npm run network -- status --native --folder ${folder}`);
      const rpcUrls = nodes.list.map(({ rpcUrl }) => rpcUrl);
      const [first, ...others] = nodes.list.map(({ name, rpcUrl }) => ({
        name,
        url: rpcUrl,
        webSocketUrl: portAfter(rpcUrl),
      }));
      if (first === undefined) return { failed: `there are no validators in ${folder}` };
      const choice = createNodeChoice({
        nodes: [first, ...others],
        say: (text) => childLine("besu", `internal RPC and faucet: ${text}`),
      });
      onStop(choice.stop);
      addresses.chain = first.url;
      addresses.chainWebSocket = first.webSocketUrl;
      addresses.chainNode = choice.current;
      addresses.upstreams = upstreamsText(nodes.list.map(({ name, rpcUrl: url }) => ({ name, url })));
      return { rows: rowsOf({ rpcUrls, folder }) };
    },
  };
}

/** Genesis in the development profile funds the accounts that npm start prints. */
async function makeNetwork({
  folder,
  config,
  say,
}: {
  folder: string;
  config: NetworkConfig;
  say: ServiceContext["say"];
}): Promise<{ failed: string } | undefined> {
  if ((await readdir(folder)).length > 0) return undefined;
  const { files } = planNetwork({ config, createKey: createNodeKey });
  const written = await writeNetwork({ folder, files, force: false, now: () => new Date() });
  if ("refused" in written) return { failed: written.refused };
  say(`A network of ${config.validators} validators has been made in ${folder}.`);
  return undefined;
}

/** How often it checks whether a validator runs as another process. */
const lookEveryMs = 500;

/** Validators have their own process groups and outlive their starter, so each is guarded as soon as it runs. */
function guardNodes({ nodes, guard }: { nodes: NativeNodes; guard: ServiceContext["guard"] }): {
  guarded: Nodes;
  stop: () => Promise<void>;
} {
  let stopped = false;
  const guardedPids = new Map<string, { pid: number; letGo: () => void }>();

  async function guardNow(name: string): Promise<void> {
    const pid = await nodes.pidOf(name);
    const before = guardedPids.get(name);
    if (stopped || pid === undefined || pid === before?.pid) return;
    before?.letGo();
    guardedPids.set(name, { pid, letGo: guard({ name, pid }) });
  }

  // `npm run network` may restart one, which is another process then.
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(async () => {
      for (const { name } of nodes.list) await guardNow(name);
    });
  }, lookEveryMs);
  timer.unref();
  return {
    guarded: {
      ...nodes,
      async start(names) {
        for (const name of names) {
          const failure = await nodes.start([name]);
          await guardNow(name);
          if (failure !== undefined) return failure;
        }
        return undefined;
      },
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await looking;
      await Promise.all(nodes.list.map(({ name }) => nodes.stop(name)));
      for (const { letGo } of guardedPids.values()) letGo();
    },
  };
}

/** Where Besu serves WebSockets: the port after HTTP's. */
function portAfter(rpcUrl: string): string {
  const url = new URL(rpcUrl);
  url.port = String(Number(url.port) + 1);
  return url.href;
}

function rowsOf({ rpcUrls, folder }: { rpcUrls: readonly string[]; folder: string }): ServiceRow[] {
  return rpcUrls.map((address, index) => ({
    name: index === 0 ? "validators" : "",
    address,
    data: index === 0 ? folder : "",
  }));
}
