import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t from "tap";
import { parse } from "yaml";
import { z } from "zod";
import { readNetworkConfig } from "../../genesis/config.ts";
import { nodeConfig } from "../../genesis/node-config.ts";
import { writeToml } from "../../genesis/toml.ts";
import { besuArguments, besuEnvironment, nativePorts } from "../../scripts/network/native/besu-command.ts";
import { besuOptions, type OptionValue } from "../fakes/besu-stand-in/read-options.ts";
import { readToml } from "../fakes/besu-stand-in/read-toml.ts";

const shipped = fileURLToPath(new URL("../../config/network.yaml", import.meta.url));
const place = {
  name: "validator-3",
  host: "172.28.84.13",
  peerPort: 30_303,
  httpPort: 8545,
  metricsPort: 9545,
};

function optionsFor(overrides: Record<string, unknown> = {}, name = place.name): Map<string, OptionValue> {
  const config = readNetworkConfig({ file: shipped, env: {}, overrides });
  return readToml(writeToml(nodeConfig({ config, place: { ...place, name } })));
}

const kindOf = (value: OptionValue | undefined) => (Array.isArray(value) ? "list" : typeof value);

t.test("every option is one that Besu knows, with a value of its kind", async (t) => {
  for (const node of [{}, { storage: "bonsai", peerAllowlist: true }]) {
    const options = optionsFor({ node });
    t.ok(options.size > 40);
    for (const [name, value] of options) t.equal(kindOf(value), besuOptions[name], name);
  }
});

t.test("so are the options of the command line for processes of this machine", async (t) => {
  const args = besuArguments({
    folder: "/n",
    name: "validator-3",
    dataFolder: "/n/data",
    staticNodesFile: "/n/s.json",
    ports: nativePorts(8600, 2),
  });
  for (const arg of args) {
    const [, name = ""] = /^--([a-z0-9-]+)=./.exec(arg) ?? [];
    t.ok(name === "config-file" || name in besuOptions, arg);
  }
  t.same(nativePorts(8600, 2), { http: 8630, ws: 8631, metrics: 8632, peer: 8633 });
});

t.test("JSON-RPC has the public families and those for traces, never one that changes a node", async (t) => {
  const options = optionsFor();
  for (const name of ["rpc-http-api", "rpc-ws-api"]) {
    t.same(options.get(name), ["ETH", "NET", "WEB3", "TXPOOL", "DEBUG", "TRACE", "IBFT"]);
  }
  t.ok(String(optionsFor({ consensus: "qbft" }).get("rpc-http-api")).endsWith("QBFT"));
});

t.test("without the operator's token go the methods that pass the gateway, and no others", async (t) => {
  const { methods } = z
    .object({ methods: z.record(z.string(), z.looseObject({ trace: z.unknown().optional() })) })
    .parse(parse(readFileSync(new URL("../../config/methods.yaml", import.meta.url), "utf8")));
  const names = Object.keys(methods).sort();
  const traces = names.filter((name) => methods[name]?.trace !== undefined);
  t.ok(traces.length > 10);
  const listed = (options: Map<string, OptionValue>, server: string) => {
    t.equal(options.get(`rpc-${server}-authentication-enabled`), true);
    const open = options.get(`rpc-${server}-api-methods-no-auth`);
    return Array.isArray(open) ? open.toSorted() : [];
  };
  for (const server of ["http", "ws"]) {
    t.same(listed(optionsFor(), server), names);
    // Where another node is there for traces a validator runs none for anybody without a token.
    const traceNode = { enabled: true };
    const without = names.filter((name) => !traces.includes(name));
    t.same(listed(optionsFor({ traceNode }), server), without);
    t.same(listed(optionsFor({ traceNode }, "trace-node"), server), names);
  }
});

t.test("what the network rests on is written out", async (t) => {
  const options = Object.fromEntries(optionsFor());
  t.match(options, {
    "rpc-http-max-active-connections": 500,
    "rpc-ws-max-active-connections": 500,
    "rpc-http-max-batch-size": 1024,
    "min-gas-price": 0,
    "discovery-enabled": false,
    "data-storage-format": "FOREST",
    "poa-block-txs-selection-max-time": 75,
    "rpc-gas-cap": 50_000_000,
    "metrics-enabled": true,
    "sync-mode": "FULL",
    "host-allowlist": ["localhost", "127.0.0.1", "172.28.84.13", "validator-3"],
    "rpc-http-host": "172.28.84.13",
    "rpc-ws-port": 8546,
  });
  t.notOk("profile" in options, "it has no effect in a file");
  t.notOk(
    "block-txs-selection-max-time" in options,
    "Besu does not start with it on a pure proof-of-authority chain",
  );
});

t.test("bonsai can be chosen, with what Besu then asks for", async (t) => {
  t.match(Object.fromEntries(optionsFor({ node: { storage: "bonsai" } })), {
    "data-storage-format": "BONSAI",
    "bonsai-limit-trie-logs-enabled": false,
  });
});

t.test("options that the configuration adds are written as well", async (t) => {
  const node = {
    moreOptions: { "cache-last-blocks": 512, "metrics-category": ["RPC"], identity: 'a "b"\\c' },
  };
  const options = writeToml([{ comment: "more", values: node.moreOptions }]);
  t.same([...readToml(options)], Object.entries(node.moreOptions));
  t.equal(optionsFor({ node: { moreOptions: { "cache-last-blocks": 512 } } }).get("cache-last-blocks"), 512);
});

t.test("the caller's BESU_ variables do not reach Besu, but for its JVM's", async (t) => {
  const env = { PATH: "/bin", BESU_MIN_GAS_PRICE: "7", BESU_HOME: "/opt/besu", BESU_OPTS: "-Xlog:gc" };
  t.same(besuEnvironment({ env, javaMemoryMb: 700 }), {
    PATH: "/bin",
    BESU_OPTS: "-Xmx700m -XX:+ExitOnOutOfMemoryError -Xlog:gc",
  });
});
