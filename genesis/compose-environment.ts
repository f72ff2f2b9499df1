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
    ...Object.fromEntries(validators.map(({ name, host }) => [addressVariable(name), host])),
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

/**
 * compose.env after validators came or went: the lines that still are as they were written for `before` become those of `after`, and all
 * else stays, since operators add lines of their own.
 *
 * @returns the text, and the variables that somebody has set otherwise, each with the value that fits now.
 */
export function updateComposeEnvironment({
  text,
  before,
  after,
}: {
  text: string;
  before: Manifest;
  after: Manifest;
}): { text: string; own: readonly string[] } {
  const [old, wanted] = [before, after].map((manifest) => linesOf(composeEnvironment(manifest)));
  const lines = text.replace(/\n$/, "").split("\n");
  const own: string[] = [];
  for (const [name, value] of wanted ?? []) {
    if (old?.get(name) === value) continue;
    const written = lines.filter((line) => line.startsWith(`${name}=`));
    if (written.length === 0) lines.push(`${name}=${value}`);
    else if (written.every((line) => line === `${name}=${old?.get(name)}`)) {
      lines.splice(lines.lastIndexOf(written.at(-1) ?? ""), 1, `${name}=${value}`);
    } else if (written.at(-1) !== `${name}=${value}`) own.push(`${name}=${value}`);
  }
  return { text: `${lines.join("\n")}\n`, own };
}

function linesOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split("\n").flatMap((line): [string, string][] => {
      const [, name, value] = /^([A-Z0-9_]+)=(.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
  );
}

/** `VALIDATOR_3` for validator-3. */
function addressVariable(name: string): string {
  return name.replace("-", "_").toUpperCase();
}

function namedAddress({ name, host, httpPort }: { name: string; host: string; httpPort: number }): string {
  return `${name}=http://${host}:${httpPort}`;
}
