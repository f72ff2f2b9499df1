import { once } from "node:events";
import { type Agent, request } from "node:https";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import type { Test } from "tap";
import { reservePort } from "../../../scripts/processes/reserved-port.ts";
import { runChild } from "../../../scripts/processes/run-child.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { writeCertificate } from "../../helpers/certificate.ts";
import { coreKey } from "../../helpers/gateway.ts";
import { type GatewayProcess, runGateway, whenServing, writeConfig } from "../../helpers/gateway-process.ts";
import { startRedis } from "../../helpers/redis.ts";
import { runCommand } from "../../helpers/run-command.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { type Balancer, balancers, findBalancer } from "./balancers.ts";

export const badKeysMax = 3;
/** May make 50 calls a minute. */
export const scarceKey = "test-key-of-fifty-calls-a-minute";
export const scarceCalls = 50;

export type Gateway = {
  port: number;
  opsPort: number;
  /** The process that runs now. */
  process(): GatewayProcess;
  /** Runs it again, after it has ended, and waits until it serves. */
  start(): Promise<void>;
  /** Whether its ops server says that it may get calls. */
  isReady(): Promise<boolean>;
  /** HTTP requests that it has answered since its start. */
  answered(): Promise<number>;
};

export type Behind = {
  port: number;
  ca: string;
  anvilUrl: string;
  gateways: readonly [Gateway, Gateway];
  balancer: Balancer;
};

/** A test for each balancer that is installed, all at the same time. */
export function behindEach(t: Test, work: (t: Test, behind: Behind) => Promise<void>): void {
  t.jobs = balancers.length;
  for (const balancer of balancers) {
    t.test(`behind ${balancer.name}, as it is shipped`, { buffered: true }, async (t) => {
      const found = await findBalancer(balancer);
      if ("missing" in found) t.plan(0, found.missing);
      else await work(t, await startBehind(t, { balancer, ...found }));
    });
  }
}

/** A balancer as it is shipped, before two gateways that are processes of their own. */
async function startBehind(
  t: Test,
  { balancer, program, drainDelayMs = 6000 }: { balancer: Balancer; program: string; drainDelayMs?: number },
): Promise<Behind> {
  const folder = testFolder(t);
  const [redis, anvil, { certificate }] = await Promise.all([
    startRedis(t),
    startAnvil(t),
    writeCertificate(folder),
  ]);
  const open = { redisUrl: redis.url, upstream: anvil.url, drainDelayMs };
  const gateways = await Promise.all([
    openGateway(t, { ...open, file: join(folder, "gateway-1.yaml") }),
    openGateway(t, { ...open, file: join(folder, "gateway-2.yaml") }),
  ] as const);
  await Promise.all(gateways.map((gateway) => gateway.start()));

  const port = await reservePort();
  const { serve, check } = balancer.prepare({ folder, port, gateways });
  const checked = await runCommand(t, { program, args: check });
  t.equal(checked.code, 0, `${balancer.name} finds its configuration in order: ${checked.lines.join(" ")}`);
  const child = await runChild({
    name: balancer.name,
    program,
    args: serve,
    env: process.env,
    onLine: () => {},
  });
  if ("failed" in child) throw new Error(child.failed);
  t.teardown(() => child.stop({ withinMs: 5000 }));
  const behind = { port, ca: certificate, anvilUrl: anvil.url, gateways, balancer };
  const body = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };
  await waitFor(`${program} passes calls on`, async () => {
    if (!child.running()) throw new Error(await child.obituary());
    if (!(await isListening(port))) return false;
    return (await ask({ ...behind, body }).catch(() => ({ status: 0 }))).status === 200;
  });
  return behind;
}

async function openGateway(
  t: Test,
  { drainDelayMs, ...where }: { redisUrl: string; upstream: string; drainDelayMs: number; file: string },
): Promise<Gateway> {
  const [port, opsPort] = await Promise.all([reservePort(), reservePort()]);
  const more = [
    `  - { label: scarce, team: tests, value: ${scarceKey}, permissions: [rpc], limitPerMinute: ${scarceCalls} }`,
    "trustedProxies: [127.0.0.1]",
    `limits: { requestsPerMinute: ${badKeysMax} }`,
    `drainDelayMs: ${drainDelayMs}`,
  ].join("\n");
  const file = writeConfig(t, { ...where, port, opsPort, more });
  let running: GatewayProcess | undefined;
  const ops = (path: string) => fetch(`http://127.0.0.1:${opsPort}${path}`);
  return {
    port,
    opsPort,
    process() {
      if (running === undefined) throw new Error("it was not started");
      return running;
    },
    async start() {
      running = runGateway(t, ["--config", file]);
      await whenServing(running);
    },
    isReady: () =>
      ops("/readyz").then(
        ({ ok }) => ok,
        () => false,
      ),
    async answered() {
      const text = await (await ops("/metrics")).text();
      const counts = [...text.matchAll(/^tollgate_gateway_requests_total\{[^}]*\} (\d+)$/gm)];
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connectTcp({ port, host: "127.0.0.1" });
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  socket.destroy();
  return isOpen;
}

/** Sends bytes and answers everything that comes until the other side closes. */
export async function converse(
  t: Test,
  { port, ca, sent }: { port: number; ca: string; sent: string },
): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", ca });
  t.teardown(() => socket.destroy());
  await once(socket, "secureConnect");
  socket.write(sent);
  let text = "";
  for await (const piece of socket.setEncoding("latin1")) text += piece;
  return text;
}

export type Asked = {
  port: number;
  ca: string;
  /** Where the client's connection comes from. */
  localAddress?: string;
  body: object;
  key?: string;
  headers?: Record<string, string>;
  agent?: Agent;
};

export function ask({
  port,
  ca,
  localAddress = "127.0.0.2",
  body,
  key = coreKey,
  headers = {},
  agent,
}: Asked) {
  return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const sent = request(
      {
        ...{ port, host: "127.0.0.1", ca, localAddress, method: "POST" },
        headers: { "Content-Type": "application/json", "X-API-Key": key, ...headers },
        ...(agent === undefined ? {} : { agent }),
      },
      async (response) => {
        let text = "";
        try {
          for await (const chunk of response.setEncoding("utf8")) text += chunk;
          resolve({ status: response.statusCode, text });
        } catch (error) {
          reject(error);
        }
      },
    );
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}
