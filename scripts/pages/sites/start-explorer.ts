import { pino } from "pino";
import type { ApiConfig } from "../../../api/config.ts";
import { start } from "../../../api/start.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { type ApiServices, ownApiConfig } from "./own-api-config.ts";

/** The API with the shipped configuration on free loopback ports, whose clock stands. @returns its URL. */
export async function startExplorer(
  t: Teardown,
  {
    services,
    nowMs,
    change = (config) => config,
  }: {
    services: ApiServices;
    nowMs: number;
    change?: (config: ApiConfig) => ApiConfig;
  },
): Promise<string> {
  const own = ownApiConfig(services);
  const config = change({
    ...own,
    live: { ...own.live, perAddressMax: 1000 },
    faucetUrl: "https://faucet.example",
    walletProxyUrl: "http://127.0.0.1:8541",
  });
  const api = await start(config, { logger: pino({ level: "silent" }), now: () => nowMs });
  t.teardown(() => api.stop());
  return `http://127.0.0.1:${api.address.port}`;
}

/** Waits until the index of an API has this block. @throws Error where that takes too long. */
export async function waitForIndex(url: string, block: number, withinMs = 60_000): Promise<void> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const text = await (await fetch(`${url}/api/v1/blocks?limit=1`)).text();
    if (text.includes(`"indexedBlock":${block}`)) return;
    if (performance.now() > endMs) throw new Error(`the index has not reached block ${block}: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
