import type { Logger } from "pino";
import { type WalletConfiguration, walletConfiguration } from "../../lib/network.ts";
import { readPageFiles } from "./page-files.ts";
import type { Page } from "./routes.ts";
import { type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";

export type WalletProxyConfig = {
  /** 0 takes a free one. */
  port: number;
  /** http:// or https://, without a path. */
  gatewayUrl: string;
  /** Origins of pages that are let in besides loopback. */
  sites?: readonly string[];
  /** Certificates (PEM) to be trusted for the gateway instead of the public authorities'. */
  ca?: string | undefined;
  /** The explorer that wallets and the page are told of; else the one behind the gateway, at `/explorer/` here. */
  explorerUrl?: string | undefined;
  /** Where the page sends people for test tokens; else nowhere. */
  faucetUrl?: string | undefined;
};

const explorerFolder = "/explorer/";

/**
 * Starts the wallet proxy: browser wallets cannot send a header, so it listens on loopback and adds the API key. It also
 * passes on the explorer behind the gateway, tells wallets of the network, and has a page that adds it to them.
 */
export function startWalletProxy(
  { port, gatewayUrl, sites = [], ca, explorerUrl, faucetUrl = "" }: WalletProxyConfig,
  { apiKey, logger }: { apiKey: () => string; logger: Logger },
): Promise<RpcProxy> {
  return startRpcProxy({
    port,
    target: { name: "the gateway", url: gatewayUrl, ca, headers: () => ({ "x-api-key": apiKey() }) },
    sites,
    passedFolder: explorerFolder,
    pages(url) {
      const configuration = walletConfiguration({
        rpcUrl: url,
        explorerUrl: explorerUrl ?? new URL(explorerFolder, url).href,
      });
      const files = readPageFiles({ configuration, explorerUrl: explorerUrl ?? explorerFolder, faucetUrl });
      return new Map([...files, ["/network.json", () => networkPage(configuration)]]);
    },
    logger,
  });
}

function networkPage(configuration: WalletConfiguration): Page {
  return {
    headers: { "Content-Type": "application/json", "Cache-Control": "no-cache" },
    body: `${JSON.stringify(configuration, null, 2)}\n`,
  };
}
