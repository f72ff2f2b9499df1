import type { Manifest } from "./manifest.ts";

/**
 * What docker/compose.yaml has to know of a network: `docker compose --env-file network/compose.env -f docker/compose.yaml`.
 * A variable of the caller's environment goes before it.
 */
export function composeEnvironment({ validators, genesisHash, javaMemoryMb }: Manifest): string {
  const [first] = validators;
  const subnet = (first?.host ?? "").split(".").slice(0, 3).join(".");
  const values = {
    GENESIS_HASH: genesisHash,
    VALIDATORS_SUBNET: `${subnet}.0/24`,
    ...Object.fromEntries(validators.map(({ host }, index) => [`VALIDATOR_${index + 1}`, host])),
    VALIDATOR_RPC_PORT: first?.httpPort,
    VALIDATOR_JAVA_MEMORY_MB: javaMemoryMb,
    UPSTREAMS: validators.map(({ host, httpPort }) => `http://${host}:${httpPort}`).join(","),
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return ["# Made by npm run genesis -- init, for docker/compose.yaml.", ...lines, ""].join("\n");
}
