import type { Manifest } from "./manifest.ts";

/**
 * What docker/compose.yaml has to know of a network: `docker compose --env-file network/compose.env -f docker/compose.yaml`.
 * A variable of the caller's environment goes before it.
 */
export function composeEnvironment({ validators, traceNode, genesisHash, javaMemoryMb }: Manifest): string {
  const [first] = validators;
  const subnet = (first?.host ?? "").split(".").slice(0, 3).join(".");
  const values = {
    GENESIS_HASH: genesisHash,
    VALIDATORS_SUBNET: `${subnet}.0/24`,
    ...Object.fromEntries(validators.map(({ host }, index) => [`VALIDATOR_${index + 1}`, host])),
    VALIDATOR_RPC_PORT: first?.httpPort,
    VALIDATOR_JAVA_MEMORY_MB: javaMemoryMb,
    // With their names, so that the gateway calls each what the command line calls it.
    UPSTREAMS: validators.map(namedAddress).join(","),
    ...(traceNode === undefined
      ? {}
      : {
          COMPOSE_PROFILES: "trace",
          TRACE_NODE: traceNode.host,
          TRACE_NODE_JAVA_MEMORY_MB: traceNode.javaMemoryMb,
          TRACE_UPSTREAMS: namedAddress(traceNode),
        }),
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return ["# Made by npm run genesis -- init, for docker/compose.yaml.", ...lines, ""].join("\n");
}

function namedAddress({ name, host, httpPort }: { name: string; host: string; httpPort: number }): string {
  return `${name}=http://${host}:${httpPort}`;
}
