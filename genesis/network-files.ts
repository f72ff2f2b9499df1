import { generateKeyPairSync, randomBytes } from "node:crypto";
import { developmentAccounts } from "../lib/chain/development-accounts.ts";
import { walletConfiguration } from "../lib/network.ts";
import { composeEnvironment } from "./compose-environment.ts";
import type { NetworkConfig } from "./config.ts";
import { genesisBlock } from "./genesis-block.ts";
import { createGenesis, type GenesisAccount } from "./genesis-file.ts";
import { enode, type Manifest, type ManifestNode, manifestName, type NodePlace } from "./manifest.ts";
import { nodeConfig } from "./node-config.ts";
import type { NodeKey } from "./node-key.ts";
import { operatorKeyFile, operatorPublicKeyFile } from "./operator-token.ts";
import { redisUserSecrets } from "./redis-users.ts";
import { writeToml } from "./toml.ts";

/** `path` counts from the network's folder. */
export type NetworkFile = { path: string; content: string; secret?: true };

/** An account that the configuration names, with the key that was made where it names none. */
export type FundedAccount = { name: "treasury" | "faucet"; address: string; tokens: number; key?: NodeKey };

export type NetworkPlan = {
  files: readonly NetworkFile[];
  manifest: Manifest;
  accounts: readonly FundedAccount[];
};

/** All files of a network, and what they say in short. Nothing is written. */
export function planNetwork({
  config,
  createKey,
}: {
  config: NetworkConfig;
  createKey: () => NodeKey;
}): NetworkPlan {
  const keys = Array.from({ length: config.validators }, createKey);
  const traceKey = config.traceNode.enabled ? createKey() : undefined;
  const accounts = fundedAccounts({ config, createKey });
  const genesis = createGenesis({
    ...config,
    validators: keys.map(({ address }) => address),
    accounts: [...accounts, ...publicAccounts(config)],
  });
  const hash = genesisBlock(genesis)?.hash;
  if (hash === undefined) throw new Error("the genesis file that was just made cannot be read");
  const manifest = describe({ config, keys, traceKey, hash });
  const { traceNode } = manifest;
  return {
    manifest,
    accounts,
    files: [
      // Whatever the folder is called, git must not take the keys in it.
      { path: ".gitignore", content: "*\n" },
      ...membershipFiles(manifest),
      { path: "genesis.json", content: json(genesis) },
      { path: "wallet.json", content: json(walletFile(config)) },
      { path: "compose.env", content: composeEnvironment(manifest) },
      ...serviceSecrets(),
      ...redisUserSecrets().map((file): NetworkFile => ({ ...file, secret: true })),
      ...operatorKeys(),
      ...manifest.validators.flatMap((place, index) => nodeFiles({ config, place, key: keys[index] })),
      ...(traceNode === undefined ? [] : nodeFiles({ config, place: traceNode, key: traceKey })),
      ...accounts.flatMap(({ name, key }) => (key === undefined ? [] : keyFile(`accounts/${name}.key`, key))),
    ],
  };
}

/** The files that say which nodes there are: they change when a validator comes or goes. */
export function membershipFiles(manifest: Manifest): NetworkFile[] {
  const { validators, traceNode } = manifest;
  const enodeOf = ({ nodeId, host, peerPort }: ManifestNode | NonNullable<Manifest["traceNode"]>) =>
    enode({ nodeId, host, port: peerPort });
  const enodes = validators.map(enodeOf);
  // A trace node looks for the validators, which need not know of it beforehand, only let it in.
  const allowed = traceNode === undefined ? enodes : [...enodes, enodeOf(traceNode)];
  return [
    { path: "static-nodes.json", content: json(enodes) },
    {
      path: "permissions_config.toml",
      content: writeToml([{ comment: "Who may be a peer", values: { "nodes-allowlist": allowed } }]),
    },
    { path: manifestName, content: json(manifest) },
  ];
}

function describe({
  config,
  keys,
  traceKey,
  hash,
}: {
  config: NetworkConfig;
  keys: readonly NodeKey[];
  traceKey: NodeKey | undefined;
  hash: string;
}): Manifest {
  const { containers } = config;
  const [a, b, c, first] = containers.firstAddress.split(".");
  /** Counted up from the first validator; the trace node comes behind the last. */
  const node = ({ address, nodeId }: NodeKey, index: number) => ({
    address,
    nodeId,
    host: [a, b, c, Number(first) + index].join("."),
    peerPort: containers.peerPort,
    httpPort: containers.httpPort,
    metricsPort: containers.metricsPort,
  });
  return {
    chainId: config.chainId,
    consensus: config.consensus,
    genesisHash: hash,
    blockSeconds: config.blockSeconds,
    requestTimeoutSeconds: config.requestTimeoutSeconds,
    javaMemoryMb: config.node.javaMemoryMb,
    validators: keys.map((key, index) => ({ name: `validator-${index + 1}`, ...node(key, index) })),
    ...(traceKey === undefined
      ? {}
      : {
          traceNode: {
            name: "trace-node",
            ...node(traceKey, keys.length),
            javaMemoryMb: config.traceNode.javaMemoryMb,
          },
        }),
  };
}

/** A node's key, where one is given, and its configuration. */
export function nodeFiles({
  config,
  place,
  key,
}: {
  config: NetworkConfig;
  place: NodePlace;
  key: NodeKey | undefined;
}): NetworkFile[] {
  return [
    ...(key === undefined ? [] : keyFile(`${place.name}/key`, key)),
    { path: `${place.name}/config.toml`, content: writeToml(nodeConfig({ config, place })) },
  ];
}

/** For docker/compose.yaml, which hands each to those services only that need it. */
function serviceSecrets(): NetworkFile[] {
  const password = () => randomBytes(24).toString("base64url");
  const secret = (name: string, text: string): NetworkFile => ({
    path: `secrets/${name}`,
    content: `${text}\n`,
    secret: true,
  });
  const postgresPassword = password();
  return [
    secret("redis-url", `redis://:${password()}@redis:6379`),
    secret("redis-faucet-url", `redis://:${password()}@redis-faucet:6379`),
    secret("postgres-password", postgresPassword),
    secret("postgres-url", `postgres://tollgate:${postgresPassword}@postgres:5432/tollgate`),
    secret("grafana-password", password()),
  ];
}

/** RSA, since Besu takes RS256 unless it is told otherwise. */
function operatorKeys(): NetworkFile[] {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  return [
    { path: operatorKeyFile, content: privateKey, secret: true },
    { path: operatorPublicKeyFile, content: publicKey },
  ];
}

function keyFile(path: string, { privateKey }: NodeKey): NetworkFile[] {
  return [{ path, content: `${privateKey}\n`, secret: true }];
}

function fundedAccounts({
  config,
  createKey,
}: {
  config: NetworkConfig;
  createKey: () => NodeKey;
}): FundedAccount[] {
  return (["treasury", "faucet"] as const).map((name) => {
    const { address, tokens } = config.allocation[name];
    if (address !== "") return { name, address, tokens };
    const key = createKey();
    return { name, address: key.address, tokens, key };
  });
}

function publicAccounts({ profile, allocation }: NetworkConfig): GenesisAccount[] {
  if (profile === "production") return [];
  return developmentAccounts.map((address) => ({ address, tokens: allocation.developmentAccounts.tokens }));
}

function walletFile({ chainId, wallet }: NetworkConfig) {
  return { ...walletConfiguration(wallet), chainId: `0x${chainId.toString(16)}` };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
