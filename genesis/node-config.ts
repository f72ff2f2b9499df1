import type { NetworkConfig } from "./config.ts";
import type { NodePlace } from "./manifest.ts";
import { openMethods, traceMethods } from "./open-methods.ts";
import type { TomlGroup, TomlValue } from "./toml.ts";

/** Where a node's container has its files; docker/ mounts them there. */
export const containerPaths = {
  data: "/var/lib/besu",
  genesis: "/etc/besu/genesis.json",
  staticNodes: "/etc/besu/static-nodes.json",
  key: "/etc/besu/key",
  permissions: "/etc/besu/permissions_config.toml",
  operatorKey: "/etc/besu/operator.pub.pem",
} as const;

/** The families that the gateway needs. They also have methods that change a node or who belongs to the network. */
const apis = ["ETH", "NET", "WEB3", "TXPOOL", "DEBUG", "TRACE"];
const requestBytesMax = 5 * 1024 * 1024;
/** Static nodes do not count, so this is room for what an operator connects by hand. */
const peersMax = 25;
const bonsaiBlocks = 512;

/**
 * One validator's config.toml, in groups. Every option is written out: a `profile=` line in such a file has no effect in
 * Besu 26.8.0, and defaults change between releases. What is run as a process of this machine overrides addresses,
 * ports and paths on the command line (scripts/network/native) and shares the rest.
 */
export function nodeConfig({ config, place }: { config: NetworkConfig; place: NodePlace }): TomlGroup[] {
  const { node } = config;
  return [
    {
      comment: `${place.name} of chain ${config.chainId}. Made by npm run genesis -- init; config/network.yaml says why.`,
      values: {
        "data-path": containerPaths.data,
        "genesis-file": containerPaths.genesis,
        "node-private-key-file": containerPaths.key,
        "static-nodes-file": containerPaths.staticNodes,
        "network-id": config.chainId,
        identity: place.name,
        "sync-mode": "FULL",
        logging: "INFO",
        "color-enabled": false,
      },
    },
    storage(node.storage),
    {
      comment: "Peers: the other validators, at fixed addresses. Nobody is looked for.",
      values: {
        "p2p-enabled": true,
        "p2p-host": place.host,
        "p2p-interface": place.host,
        "p2p-port": place.peerPort,
        "discovery-enabled": false,
        "nat-method": "NONE",
        "max-peers": peersMax,
        "permissions-nodes-config-file-enabled": node.peerAllowlist,
        ...(node.peerAllowlist ? { "permissions-nodes-config-file": containerPaths.permissions } : {}),
      },
    },
    ...rpc({ config, place }),
    {
      comment:
        "Blocks and transactions: no fees, on every node alike, or one would leave out what another takes.",
      values: {
        "min-gas-price": 0,
        "min-priority-fee": 0,
        "target-gas-limit": config.gasLimit,
        "tx-pool": "layered",
        // What waits is kept over a restart. `recover` restarts all nodes, and nobody else has what was taken in a stall.
        "tx-pool-enable-save-restore": true,
        // As a share, since Besu refuses milliseconds (block-txs-selection-max-time) where no proof of stake is to come.
        // 26.8.0 itself heeds this only before Shanghai and takes up to 5 s under load; 26.8.1 heeds it always
        // (https://github.com/besu-eth/besu/issues/11005).
        "poa-block-txs-selection-max-time": node.blockSelectionPercent,
      },
    },
    {
      comment: "Prometheus",
      values: {
        "metrics-enabled": true,
        "metrics-protocol": "prometheus",
        "metrics-host": place.host,
        "metrics-port": place.metricsPort,
      },
    },
    ...(Object.keys(node.moreOptions).length === 0
      ? []
      : [{ comment: "moreOptions of config/network.yaml", values: node.moreOptions }]),
  ];
}

function storage(kind: NetworkConfig["node"]["storage"]): TomlGroup {
  if (kind === "forest") {
    return {
      comment: "The state of every block is kept: old balances and traces can be asked for.",
      values: { "data-storage-format": "FOREST" },
    };
  }
  return {
    comment: `The state of the last ${bonsaiBlocks} blocks is kept: what is older cannot be asked for.`,
    values: {
      "data-storage-format": "BONSAI",
      "bonsai-historical-block-limit": bonsaiBlocks,
      // Besu refuses this one together with sync-mode FULL unless it is false.
      "bonsai-limit-trie-logs-enabled": false,
    },
  };
}

function rpc({ config, place }: { config: NetworkConfig; place: NodePlace }): TomlGroup[] {
  const { node } = config;
  // Besu knows the consensus's methods by its name: IBFT for IBFT 2.0.
  const allApis = [...apis, config.consensus === "ibft2" ? "IBFT" : "QBFT"];
  const isTraceNode = place.name === "trace-node";
  const open = config.traceNode.enabled && !isTraceNode ? openMethods : [...openMethods, ...traceMethods];
  const http: Record<string, TomlValue> = {
    "rpc-http-enabled": true,
    "rpc-http-host": place.host,
    "rpc-http-port": place.httpPort,
    "rpc-http-api": allApis,
    "rpc-http-cors-origins": ["none"],
    "rpc-http-authentication-enabled": true,
    "rpc-http-authentication-jwt-public-key-file": containerPaths.operatorKey,
    "rpc-http-api-methods-no-auth": open,
    "rpc-http-max-active-connections": node.httpConnectionsMax,
    "rpc-http-max-batch-size": node.httpBatchItemsMax,
    "rpc-http-max-request-content-length": requestBytesMax,
  };
  const ws: Record<string, TomlValue> = {
    "rpc-ws-enabled": true,
    "rpc-ws-host": place.host,
    "rpc-ws-port": place.httpPort + 1,
    "rpc-ws-api": allApis,
    "rpc-ws-authentication-enabled": true,
    "rpc-ws-authentication-jwt-public-key-file": containerPaths.operatorKey,
    "rpc-ws-api-methods-no-auth": open,
    "rpc-ws-max-active-connections": node.webSocketConnectionsMax,
  };
  return [
    {
      comment:
        "JSON-RPC: on the validators' own network only, which nobody but the gateway's side can reach. Methods that are not\nlisted as …-no-auth take a token of the operator's: npm run network -- rpc makes one.",
      values: { "host-allowlist": ["localhost", "127.0.0.1", place.host, place.name], ...http, ...ws },
    },
    {
      comment: "What a single call may cost",
      values: {
        "rpc-gas-cap": node.callGasMax,
        "rpc-max-logs-range": node.logsRangeBlocksMax,
        "rpc-max-trace-filter-range": node.traceFilterBlocksMax,
      },
    },
  ];
}
