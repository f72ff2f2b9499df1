import { createClientAddress, limitAddress } from "../lib/http-service/client-address.ts";
import type { AllowlistStore } from "./allowlist/allowlist-store.ts";
import { createBalanceAfter } from "./chain/balance-after.ts";
import type { WalletChain } from "./chain/wallet-chain.ts";
import type { Admission } from "./claims/admission.ts";
import type { Attempts } from "./claims/attempts.ts";
import type { FaucetConfig } from "./config.ts";
import { type FaucetServerOptions, startFaucetServer } from "./http/faucet-server.ts";
import { createScopes } from "./http/scopes.ts";
import { createLookUpAllowance } from "./look-up-allowance.ts";
import { createPage } from "./page/page.ts";
import type { StatusView } from "./read-status.ts";

/** The listener for everybody, with the page, and the one for gateways. */
export async function startListeners({
  config,
  allowlist,
  attempts,
  chain,
  now,
  ...shared
}: Pick<FaucetServerOptions, "takeClaim" | "logger"> & {
  config: FaucetConfig;
  admission: Admission;
  allowlist: AllowlistStore;
  attempts: Attempts;
  chain: WalletChain;
  status: () => Promise<StatusView>;
  now: () => number;
}) {
  const { bodyBytesMax, requestTimeoutMs, host, port } = config;
  const scopes = createScopes({ clientAddress: createClientAddress(config), limitAddress });
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
      page: createPage({
        settings: config,
        status: shared.status,
        admission: shared.admission,
        balanceAfter: createBalanceAfter({ chain }),
        lookUpAllowance: createLookUpAllowance({
          ...{ allowlist, attempts, now, admission: shared.admission, settings: config },
        }),
        scopeOf: scopes.ofClient,
        now,
      }),
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
