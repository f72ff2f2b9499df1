import { fileURLToPath } from "node:url";
import t from "tap";
import { readNetworkConfig } from "../../genesis/config.ts";
import { planNetwork } from "../../genesis/network-files.ts";
import { createNodeKey } from "../../genesis/node-key.ts";

const containers = { firstAddress: "10.9.8.7", peerPort: 30_303, httpPort: 9000, metricsPort: 9545 };
const shipped = fileURLToPath(new URL("../../config/network.yaml", import.meta.url));

t.test("compose.env has what the compose file takes from a network", async (t) => {
  const { files, manifest } = planNetwork({
    config: readNetworkConfig({ file: shipped, env: {}, overrides: { containers } }),
    createKey: createNodeKey,
  });
  const text = files.find(({ path }) => path === "compose.env")?.content ?? "";
  const values = Object.fromEntries(
    text.split("\n").flatMap((line) => {
      const [, name, value] = /^([A-Z0-9_]+)=(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value]];
    }),
  );
  t.same(values, {
    GENESIS_HASH: manifest.genesisHash,
    VALIDATORS_SUBNET: "10.9.8.0/24",
    VALIDATOR_1: "10.9.8.7",
    VALIDATOR_2: "10.9.8.8",
    VALIDATOR_3: "10.9.8.9",
    VALIDATOR_4: "10.9.8.10",
    VALIDATOR_5: "10.9.8.11",
    VALIDATOR_RPC_PORT: "9000",
    VALIDATOR_JAVA_MEMORY_MB: "1024",
    UPSTREAMS: [7, 8, 9, 10, 11].map((last) => `validator-${last - 6}=http://10.9.8.${last}:9000`).join(","),
  });
});

t.test("a trace node has a key, a configuration and an address, and validates nothing", async (t) => {
  const traceNode = { enabled: true, javaMemoryMb: 3000 };
  const { files, manifest } = planNetwork({
    config: readNetworkConfig({ file: shipped, env: {}, overrides: { containers, traceNode } }),
    createKey: createNodeKey,
  });
  const contentOf = (wanted: string) => files.find(({ path }) => path === wanted)?.content ?? "";
  const node = manifest.traceNode;
  t.match(node, { name: "trace-node", host: "10.9.8.12", javaMemoryMb: 3000 });
  t.match(
    files.find(({ path }) => path === "trace-node/key"),
    { secret: true },
  );
  t.equal(createNodeKey(contentOf("trace-node/key").trim()).address, node?.address);
  t.match(contentOf("trace-node/config.toml"), 'rpc-http-host="10.9.8.12"');
  t.match(contentOf("compose.env"), "TRACE_UPSTREAMS=trace-node=http://10.9.8.12:9000\n");
  t.match(contentOf("compose.env"), "COMPOSE_PROFILES=trace\n");
  t.equal(manifest.validators.length, 5);
  const { extraData }: { extraData: string } = JSON.parse(contentOf("genesis.json"));
  t.notMatch(extraData, node?.address.slice(2) ?? "", "it is no validator");
  for (const { address } of manifest.validators) t.match(extraData, address.slice(2));
  const enode = `enode://${node?.nodeId}@10.9.8.12:30303`;
  t.match(contentOf("permissions_config.toml"), enode, "which let it in where they list their peers");
  t.notMatch(contentOf("static-nodes.json"), enode, "and do not look for it");
});
