import { createServer } from "node:http";
import { pino } from "pino";
import { startWalletProxy } from "../../../gateway/wallet-proxy/start-wallet-proxy.ts";
import { network } from "../../../lib/network.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { once, type Site } from "./explorer-sites.ts";

export type WalletProxySites = {
  walletProxy: () => Promise<Site>;
  /** Its gateway does not answer. */
  walletProxyAway: () => Promise<Site>;
  /** Its gateway refuses the key. */
  walletProxyRefused: () => Promise<Site>;
};

/** Wallet proxies before a gateway's stand-in, each started when it is asked for. */
export function openWalletProxySites(t: Teardown): WalletProxySites {
  async function open(answer: { status: number } | "away"): Promise<Site> {
    const gatewayUrl = await startGatewayStandIn(t, answer);
    const proxy = await startWalletProxy(
      { port: 0, gatewayUrl },
      { apiKey: () => "a-key", logger: pino({ level: "silent" }) },
    );
    t.teardown(() => proxy.stop());
    return { url: new URL(proxy.url).origin };
  }
  return {
    walletProxy: once(() => open({ status: 200 })),
    walletProxyAway: once(() => open("away")),
    walletProxyRefused: once(() => open({ status: 401 })),
  };
}

async function startGatewayStandIn(t: Teardown, answer: { status: number } | "away"): Promise<string> {
  const server = createServer((request, response) => {
    if (answer === "away") return void response.destroy();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const asked: { id?: unknown; method?: unknown } = Object(
        JSON.parse(String(Buffer.concat(chunks)) || "{}"),
      );
      const result = asked.method === "eth_chainId" ? `0x${network.chainId.toString(16)}` : "0x12345";
      const body = answer.status === 200 ? { result } : { error: { code: -32001, message: "Unauthorized" } };
      response.writeHead(answer.status, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: asked.id ?? null, ...body }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}
