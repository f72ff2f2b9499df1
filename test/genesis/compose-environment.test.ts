import { fileURLToPath } from "node:url";
import t from "tap";
import { readNetworkConfig } from "../../genesis/config.ts";
import { planNetwork } from "../../genesis/network-files.ts";
import { createNodeKey } from "../../genesis/node-key.ts";

const shipped = fileURLToPath(new URL("../../config/network.yaml", import.meta.url));

t.test("compose.env has what the compose file takes from a network", async (t) => {
  const containers = { firstAddress: "10.9.8.7", peerPort: 30_303, httpPort: 9000, metricsPort: 9545 };
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
    VALIDATOR_JAVA_MEMORY_MB: "512",
    UPSTREAMS: [7, 8, 9, 10, 11].map((last) => `http://10.9.8.${last}:9000`).join(","),
  });
});
