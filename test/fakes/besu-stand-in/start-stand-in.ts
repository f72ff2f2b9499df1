import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SigningKey } from "ethers/crypto";
import { computeAddress } from "ethers/transaction";
import { toQuantity } from "ethers/utils";
import { z } from "zod";
import { blockHash } from "../../../lib/ibft/block-header.ts";
import { createRpc } from "./answer-rpc.ts";
import { readAuthorization } from "./authorization.ts";
import { mustRead, openChain } from "./chain.ts";
import { type Message, startConsensus } from "./consensus.ts";
import type { StandInFault } from "./faults.ts";
import { readEnode, startPeers } from "./peers.ts";
import { readGenesis, type StandInGenesis } from "./read-genesis.ts";
import { numberOption, type Options, readOptions, textOption } from "./read-options.ts";
import { startHttp, startMetrics, startWebSockets } from "./servers.ts";
import { openPool } from "./transactions.ts";
import { createProposals } from "./votes.ts";

/**
 * A stand-in for Besu: its command line, its configuration file, its ports, one IBFT 2.0 chain over all of them, and
 * transactions that move value. The EVM is not in it. Throws, in Besu's words as far as they are known, where Besu would not
 * start. The answer's `end` is to be called when it is told to end in order.
 */
export async function startStandIn(
  args: readonly string[],
  say: (text: string) => void,
  { version = "26.8.0", fault }: { version?: string; fault?: StandInFault | undefined } = {},
): Promise<{ end: () => void }> {
  const options = readOptions(args);
  const read = readGenesis(textOption(options, "genesis-file"), options);
  const genesis = fault === "another chain" ? otherGenesis(read) : read;
  const privateKey = readKey(textOption(options, "node-private-key-file"));
  const address = computeAddress(privateKey).toLowerCase();
  const proposals = createProposals();
  // A node that begins another chain has not found its own.
  const ownFolder = textOption(options, "data-path");
  const dataFolder = fault === "another chain" ? join(ownFolder, "another") : ownFolder;
  const chain = openChain({ genesis, dataFolder, proposals, say });
  const pool = openPool({ dataFolder, saves: options.get("tx-pool-enable-save-restore") === true });
  let peerCount = () => 0;
  const rpc = createRpc({
    chain,
    pool,
    onSent: (raw) => peers.broadcast({ type: "transaction", raw }),
    chainId: genesis.chainId,
    version,
    proposals,
    peerCount: () => peerCount(),
    hasTraces: fault !== "runs no traces",
  });
  const ws = await startServers({
    options,
    rpc,
    figures: () => ({ height: chain.height(), peers: peers.count() }),
  });
  const nodeId = SigningKey.computePublicKey(privateKey, false).slice("0x04".length);
  const listed = z
    .array(z.string())
    .parse(JSON.parse(readFileSync(textOption(options, "static-nodes-file"), "utf8")));
  const helloSchema = z.object({ genesis: z.literal(genesis.block.hash), address: z.string() });
  const peers = startPeers<Message>({
    own: { nodeId, host: textOption(options, "p2p-interface"), port: numberOption(options, "p2p-port") },
    others: fault === "does not sync" ? [] : listed.map(readEnode).filter((other) => other.nodeId !== nodeId),
    hello: () => ({ genesis: genesis.block.hash, address }),
    readHello: (json) => (fault === "does not sync" ? undefined : helloSchema.safeParse(json).data?.address),
    onPeer(peer) {
      say(`Connected to ${peer}`);
      for (const { raw } of pool.all()) peers.send(peer, { type: "transaction", raw });
    },
    onMessage: (peer, json) => consensus.receive(peer, json),
  });
  peerCount = peers.count;
  const consensus = startConsensus({
    genesis,
    chain,
    privateKey,
    isMute: fault === "makes no blocks",
    pool,
    broadcast: (message) => peers.broadcast(message),
    send: (peer, message) => peers.send(peer, message),
    onBlock(block) {
      say(`Imported block ${Number(block.number)} (${block.hash})`);
      ws.announce(block);
    },
  });
  say(`Ethereum main loop is up: ${address}, ${chain.height()} blocks`);
  return { end: () => pool.save() };
}

function otherGenesis(genesis: StandInGenesis): StandInGenesis {
  const block = { ...genesis.block, timestamp: toQuantity(Number(genesis.block.timestamp) + 1) };
  return { ...genesis, block: { ...block, hash: blockHash(mustRead(block)) } };
}

function readKey(file: string): string {
  // Besu would make a new key and run as nobody's validator: the stand-in says so instead.
  return new SigningKey(readFileSync(file, "utf8").trim()).privateKey;
}

async function startServers({
  options,
  rpc,
  figures,
}: {
  options: Options;
  rpc: ReturnType<typeof createRpc>;
  figures: () => { height: number; peers: number };
}) {
  const at = (name: string) => ({
    host: textOption(options, `${name}-host`),
    port: numberOption(options, `${name}-port`),
  });
  try {
    await startHttp(at("rpc-http"), rpc, readAuthorization(options, "http"));
    await startMetrics(at("metrics"), figures);
    return await startWebSockets(at("rpc-ws"), rpc, readAuthorization(options, "ws"));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE" && "port" in error))
      throw error;
    throw new Error(`Port(s) '[${error.port}]' already in use. Check for other processes using the port(s).`);
  }
}
