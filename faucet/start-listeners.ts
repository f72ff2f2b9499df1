import { createClientAddress, limitAddress } from "../lib/http-service/client-address.ts";
import type { FaucetConfig } from "./config.ts";
import { type FaucetServerOptions, startFaucetServer } from "./http/faucet-server.ts";
import { createScopes } from "./http/scopes.ts";
import { createPage } from "./page/page.ts";
import type { StatusView } from "./read-status.ts";

/** The listener for everybody, with the page, and the one for gateways. */
export async function startListeners({
  config,
  ...shared
}: { config: FaucetConfig } & Pick<FaucetServerOptions, "takeClaim" | "admission" | "logger"> & {
    status: () => Promise<StatusView>;
  }) {
  const { bodyBytesMax, requestTimeoutMs, trustedProxies, host, port } = config;
  const scopes = createScopes({ clientAddress: createClientAddress({ trustedProxies }), limitAddress });
  const common = { ...shared, bodyBytesMax, requestTimeoutMs };
  const inside = await startFaucetServer({
    ...common,
    ...config.private,
    scopeOf: scopes.ofTeam,
    page: undefined,
  });
  try {
    const outside = await startFaucetServer({
      ...common,
      host,
      port,
      hosts: undefined,
      scopeOf: scopes.ofClient,
      page: createPage({ config, status: shared.status }),
    });
    return {
      address: {
        host: outside.host,
        port: outside.port,
        privateHost: inside.host,
        privatePort: inside.port,
      },
      stop: () => Promise.all([outside.stop(), inside.stop()]),
    };
  } catch (error) {
    await inside.stop();
    throw error;
  }
}
