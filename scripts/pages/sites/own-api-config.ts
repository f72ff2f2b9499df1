import { fileURLToPath } from "node:url";
import { type ApiConfig, readApiConfig } from "../../../api/config.ts";

export type ApiServices = { redisUrl: string; postgresUrl: string; upstream: string };

const configFile = fileURLToPath(new URL("../../../config/api.yaml", import.meta.url));

const many = 1_000_000;

/**
 * The shipped configuration of an API over these services, on free loopback ports. It looks at the head often, and its own
 * limits do not refuse somebody who asks for much at once.
 */
export function ownApiConfig({ redisUrl, postgresUrl, upstream }: ApiServices): ApiConfig {
  const shipped = readApiConfig({
    file: configFile,
    env: {
      REDIS_URL: redisUrl,
      POSTGRES_URL: postgresUrl,
      API_UPSTREAM: upstream,
      API_PORT: "0",
      API_OPS_PORT: "0",
    },
  });
  return {
    ...shipped,
    headPollMs: 100,
    limits: { ...shipped.limits, points: many },
    session: { ...shipped.session, noncesPerMinute: many, signInsPerMinute: many },
  };
}
