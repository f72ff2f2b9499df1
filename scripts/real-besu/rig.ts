import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../processes/free-port.ts";
import { type Answer, postJson, readAnswer, rpcBody } from "./json-rpc.ts";
import { makeNetwork } from "./make-network.ts";
import { projectRoot } from "./run-script.ts";
import { startServices } from "./start-services.ts";

/** A machine that plays much else at the same time takes a minute and more until they answer. */
const readyWithinMs = 180_000;
const pollMs = 250;

export type Rig = Awaited<ReturnType<typeof openRig>>;

/** A network in a temporary folder with a gateway and a faucet of the development profile. */
export async function openRig({
  besuHome,
  upgradeTo,
  configFile,
  env: callers,
  signal,
}: {
  /** An unpacked Besu; without it containers. */
  besuHome: string | undefined;
  /** Another one, for an upgrade. */
  upgradeTo: string | undefined;
  /** The network's configuration. */
  configFile: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}) {
  const native = besuHome !== undefined;
  const ports = native
    ? { gateway: await freePort(), faucet: await freePort() }
    : { gateway: Number(callers["GATEWAY_PORT"] ?? 8540), faucet: Number(callers["FAUCET_PORT"] ?? 4001) };
  // Beside a network that runs on the ports that are everybody's.
  const env = { NATIVE_PORT_BASE: "18600", ...callers, ...(native ? { BESU_HOME: besuHome } : {}) };
  const key = (await readFile(join(projectRoot, "docker/development/faucet-upstream-key"), "utf8")).trim();
  const network = await makeNetwork({ native, configFile, env, upgradeTo });
  const { manifest, nodes, command } = network;
  let stopServices = async () => {};
  let closed = false;

  const rig = {
    manifest,
    nodes,
    native,
    key,
    gatewayUrl: `http://127.0.0.1:${ports.gateway}/`,
    faucetUrl: `http://127.0.0.1:${ports.faucet}`,
    command,
    upgraded: network.upgraded,
    dataFolder: (index: number) => network.dataFolder(nodes[index]?.name ?? ""),
    /** The first start: the validators, and natively what stands in front of them, which containers bring with them. */
    async up() {
      const begunAt = performance.now();
      const outcome = await command("up");
      if (outcome.code === 0 && native) {
        const upstreams = nodes.map(({ name, url }) => `${name}=${url}`).join(",");
        stopServices = await startServices({ env, upstreams, genesisHash: manifest.genesisHash, ports, key });
      }
      return { ...outcome, tookMs: performance.now() - begunAt };
    },
    /** A node's own answer, or undefined where it does not answer. */
    async node(index: number, method: string, params: readonly unknown[] = []): Promise<Answer | undefined> {
      const node = nodes[index];
      if (node === undefined) throw new Error(`there is no validator ${index + 1}`);
      const answered = await postJson(node.url, rpcBody(method, params)).catch(() => undefined);
      return answered === undefined ? undefined : readAnswer(answered.text);
    },
    /** Through the gateway, with a key. */
    async gateway(method: string, params: readonly unknown[] = []): Promise<Answer> {
      const { text } = await postJson(rig.gatewayUrl, rpcBody(method, params), { "X-API-Key": key });
      const answer = readAnswer(text);
      if (answer === undefined) throw new Error(`no answer of JSON-RPC: ${text.slice(0, 200)}`);
      return answer;
    },
    kill: (index: number) => network.kill(nodes[index]?.name ?? ""),
    /** Resolves with the seconds that it took. */
    async until(what: string, isSo: () => Promise<boolean>, withinMs = 180_000): Promise<number> {
      const begunAt = performance.now();
      while (!(await isSo().catch(() => false))) {
        if (signal.aborted) throw new Error(`it was interrupted, or the time was over, before ${what}`);
        if (performance.now() - begunAt > withinMs)
          throw new Error(`within ${withinMs / 1000} s: not ${what}`);
        await sleep(pollMs);
      }
      return Math.round((performance.now() - begunAt) / 1000);
    },
    height: async () => Number((await rig.gateway("eth_blockNumber")).result),
    statusIs: (code: number) =>
      rig.until(`status ${code}`, async () => (await command("status")).code === code),
    servicesReady: () =>
      rig.until(
        "a gateway that answers",
        async () => Number.isInteger(await rig.height()) && (await fetch(`${rig.faucetUrl}/health`)).ok,
        readyWithinMs,
      ),
    async close(): Promise<void> {
      if (closed) return;
      closed = true;
      await stopServices();
      await network.remove();
    },
  };
  return rig;
}
