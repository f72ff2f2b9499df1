import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { readManifest } from "../../genesis/manifest.ts";
import { nativePorts } from "../network/native/besu-command.ts";
import { findRedis } from "../processes/find-redis.ts";
import { freePort } from "../processes/free-port.ts";
import { type Child, runChild } from "../processes/run-child.ts";
import { startRedis } from "../processes/start-redis.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const stopWithinMs = 20_000;
const readyWithinMs = 60_000;
const pollMs = 250;
const answerSchema = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.int(), message: z.string() }).optional(),
});

export type Rig = Awaited<ReturnType<typeof openRig>>;
export type Answer = z.output<typeof answerSchema>;

/** A network in a temporary folder with a gateway and a faucet of the development profile. */
export async function openRig({
  besuHome,
  env: callers,
  signal,
}: {
  besuHome: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}) {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-real-besu-"));
  const network = join(folder, "network");
  const native = besuHome !== undefined;
  const ports = {
    gateway: native ? await freePort() : Number(callers["GATEWAY_PORT"] ?? 8540),
    faucet: native ? await freePort() : Number(callers["FAUCET_PORT"] ?? 4001),
    faucetPrivate: await freePort(),
    gatewayOps: await freePort(),
    faucetOps: await freePort(),
  };
  const portBase = Number(callers["NATIVE_PORT_BASE"] ?? 18_600);
  const env = { ...callers, NATIVE_PORT_BASE: String(portBase), ...(native ? { BESU_HOME: besuHome } : {}) };
  const key = (await readFile(join(root, "docker/development/faucet-upstream-key"), "utf8")).trim();
  const children: Child[] = [];
  let closed = false;

  async function run(
    script: string,
    args: readonly string[],
    more = {},
  ): Promise<{ code: number; text: string }> {
    const lines: string[] = [];
    const child = await runChild({
      name: script,
      program: process.execPath,
      args: ["--disable-warning=ExperimentalWarning", join(root, script), ...args],
      env: { ...env, ...more },
      onLine: (line) => lines.push(line),
    });
    if ("failed" in child) throw new Error(child.failed);
    const { code } = await child.ended;
    return { code: code ?? 1, text: lines.join("\n") };
  }

  const command = (...args: string[]) =>
    run("scripts/network/main.ts", [...args, ...(native ? ["--native"] : []), "--folder", network]);
  const made = await run("genesis/main.ts", ["init", "--out", network]);
  if (made.code !== 0) throw new Error(made.text);
  const read = readManifest(network);
  if ("problem" in read) throw new Error(read.problem);
  const { manifest } = read;
  const nodes = manifest.validators.map(({ name, host, httpPort }, index) => ({
    name,
    url: native ? `http://127.0.0.1:${nativePorts(portBase, index).http}` : `http://${host}:${httpPort}`,
  }));

  async function ask(url: string, body: unknown, headers = {}): Promise<{ status: number; text: string }> {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    return { status: response.status, text: await response.text() };
  }
  const rpcBody = (method: string, params: readonly unknown[]) => ({ jsonrpc: "2.0", id: 1, method, params });

  async function startProcess(script: string, more: Readonly<Record<string, string>>): Promise<void> {
    const child = await runChild({
      name: script,
      program: process.execPath,
      args: ["--disable-warning=ExperimentalWarning", join(root, script)],
      env: { ...env, LOG_LEVEL: "warn", ...more },
      onLine: () => {},
    });
    if ("failed" in child) throw new Error(child.failed);
    children.push(child);
  }

  async function startServices(): Promise<void> {
    const found = await findRedis({ env: callers, onLine: () => {} });
    if ("missing" in found) throw new Error(found.missing);
    const redis = await startRedis({
      program: found.program,
      env: callers,
      folder: "none",
      onLine: () => {},
    });
    if ("failed" in redis) throw new Error(redis.failed);
    children.push(redis.child);
    await startProcess("gateway/main.ts", {
      UPSTREAMS: nodes.map(({ url }) => url).join(","),
      GENESIS_HASH: manifest.genesisHash,
      REDIS_URL: redis.url,
      GATEWAY_PORT: String(ports.gateway),
      GATEWAY_OPS_PORT: String(ports.gatewayOps),
    });
    await startProcess("faucet/main.ts", {
      FAUCET_UPSTREAM: `http://127.0.0.1:${ports.gateway}`,
      FAUCET_UPSTREAM_KEY: key,
      REDIS_URL: redis.url.concat("/1"),
      FAUCET_PORT: String(ports.faucet),
      FAUCET_PRIVATE_PORT: String(ports.faucetPrivate),
      FAUCET_OPS_PORT: String(ports.faucetOps),
    });
  }

  const rig = {
    manifest,
    nodes,
    native,
    key,
    gatewayUrl: `http://127.0.0.1:${ports.gateway}/`,
    faucetUrl: `http://127.0.0.1:${ports.faucet}`,
    command,
    /** The first start: the validators, and natively what stands in front of them, which containers bring with them. */
    async up() {
      const begunAt = performance.now();
      const outcome = await command("up");
      if (outcome.code === 0 && native) await startServices();
      return { ...outcome, tookMs: performance.now() - begunAt };
    },
    /** A node's own answer, or undefined where it does not answer. */
    async node(index: number, method: string, params: readonly unknown[] = []): Promise<Answer | undefined> {
      const node = nodes[index];
      if (node === undefined) throw new Error(`there is no validator ${index + 1}`);
      const answered = await ask(node.url, rpcBody(method, params)).catch(() => undefined);
      return answered === undefined ? undefined : answerSchema.safeParse(parse(answered.text)).data;
    },
    /** Through the gateway, with a key. */
    async gateway(method: string, params: readonly unknown[] = []): Promise<Answer> {
      const { text } = await ask(rig.gatewayUrl, rpcBody(method, params), { "X-API-Key": key });
      return answerSchema.parse(parse(text));
    },
    ask,
    rpcBody,
    async kill(index: number): Promise<void> {
      const name = nodes[index]?.name ?? "";
      if (native) {
        const record = await readFile(join(network, "native", name, "process.json"), "utf8");
        const { pid } = z.object({ pid: z.int() }).parse(JSON.parse(record));
        process.kill(-pid, "SIGKILL");
      } else await run("scripts/network/main.ts", ["compose", "--folder", network, "kill", name]);
    },
    async until(what: string, isSo: () => Promise<boolean>, withinMs = 180_000): Promise<number> {
      const begunAt = performance.now();
      while (!(await isSo().catch(() => false))) {
        if (signal.aborted) throw new Error("it was interrupted");
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
      for (const child of children.toReversed()) await child.stop({ withinMs: stopWithinMs });
      if (native) await command("down");
      else
        await run("scripts/network/main.ts", [
          "compose",
          "--folder",
          network,
          "--profile",
          "*",
          "down",
          "--volumes",
        ]);
      await rm(folder, { recursive: true, force: true });
    },
  };
  return rig;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
