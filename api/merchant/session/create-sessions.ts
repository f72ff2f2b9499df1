import type { Logger } from "pino";
import type { RpcClient } from "../../../lib/chain/rpc-client.ts";
import { createClientAddress } from "../../../lib/http-service/client-address.ts";
import { network } from "../../../lib/network.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { RedisClient } from "../../../lib/redis/redis-client.ts";
import type { ApiConfig } from "../../config.ts";
import { createRequestLimiter } from "../../limits/request-limiter.ts";
import { createClientLimit } from "./client-limits.ts";
import { signInSite } from "./judge-message.ts";
import { createNonces } from "./nonces.ts";
import { createSessionCookie } from "./session-cookie.ts";
import { createSessionStore } from "./session-store.ts";
import { createWalletSessions } from "./wallet-sessions.ts";

const minuteSeconds = 60;

/** Wallet sessions as the configuration has them, and what removes those that have run out. */
export function createSessions({
  config,
  redis,
  db,
  rpc,
  now,
  logger,
}: {
  /** What a reload changes of it is read when it is needed. */
  config: Pick<ApiConfig, "session" | "publicUrl" | "profile" | "trustedProxies">;
  redis: RedisClient;
  db: PostgresPool;
  rpc: Pick<RpcClient, "ask">;
  now: () => number;
  logger: Logger;
}) {
  const { session, publicUrl, profile } = config;
  const clientAddress = createClientAddress(config);
  const limit = (name: string, what: string, points: () => number) =>
    createClientLimit({
      ...{ name, what, clientAddress },
      limiter: createRequestLimiter({ redis, points, windowSeconds: minuteSeconds }),
    });
  const store = createSessionStore({ settings: session, db, now });
  const isSecure = profile === "production" || publicUrl.startsWith("https:");
  if (isSecure && !publicUrl.startsWith("https:")) {
    logger.warn({ publicUrl }, "browsers keep no session: in production publicUrl has to begin with https");
  }
  const sessions = createWalletSessions({
    site: signInSite({ publicUrl, chainId: network.chainId }),
    cookie: createSessionCookie({ settings: session, isSecure }),
    nonces: createNonces({ redis, settings: session, now }),
    ...{ settings: session, store, rpc, now, logger },
    limits: {
      nonces: limit("session-nonce", "nonces", () => session.noncesPerMinute),
      signIns: limit("sign-in", "tries to sign in", () => session.signInsPerMinute),
    },
  });
  return { sessions, removeExpired: store.removeExpired };
}
