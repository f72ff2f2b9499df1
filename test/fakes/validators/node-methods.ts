import { keccak256 } from "ethers/crypto";
import { validatorAddresses } from "./besu-blocks.ts";
import { answered, besuErrors, refused } from "./besu-errors.ts";
import type { Handlers } from "./chain-methods.ts";
import type { ChainView } from "./chain-view.ts";
import { hex } from "./json.ts";
import { type Mempool, poolSizeMax } from "./mempool.ts";
import { chainId } from "./shared-chain.ts";

const signerMetricsRangeBlocks = 100;

/** What a validator says about itself, its pool and IBFT. */
export function createNodeMethods({ view, pool }: { view: ChainView; pool: Mempool }): Handlers {
  const constants = {
    web3_clientVersion: "besu/v26.8.0/linux-x86_64/openjdk-java-25",
    eth_chainId: hex(chainId),
    net_version: String(chainId),
    net_peerCount: hex(validatorAddresses.length - 1),
    net_listening: true,
    eth_syncing: false,
    eth_accounts: [],
    eth_gasPrice: "0x0",
    eth_maxPriorityFeePerGas: "0x0",
    eth_blobBaseFee: "0x0",
    ibft_getValidatorsByBlockNumber: validatorAddresses,
    ibft_getPendingVotes: {},
    rpc_modules: Object.fromEntries(
      ["txpool", "trace", "debug", "ibft", "eth", "web3", "net"].map((name) => [name, "1.0"]),
    ),
  };

  function signerMetrics() {
    const proposed = new Map<string, number[]>();
    for (
      let number = view.height();
      number > Math.max(0, view.height() - signerMetricsRangeBlocks);
      number -= 1
    ) {
      const miner = String(view.block(number)?.json["miner"]);
      proposed.set(miner, [...(proposed.get(miner) ?? []), number]);
    }
    return [...proposed].map(([address, numbers]) => ({
      address,
      proposedBlockCount: hex(numbers.length),
      lastProposedBlockNumber: hex(Math.max(...numbers)),
    }));
  }

  function poolTransactions() {
    return pool.entries().map(({ transaction, local, addedAtMs }) => ({
      hash: transaction.hash,
      isReceivedFromLocalSource: local,
      addedToPoolAt: new Date(addedAtMs).toISOString(),
    }));
  }

  function poolStatistics() {
    const entries = pool.entries();
    const localCount = entries.filter((entry) => entry.local).length;
    return { maxSize: poolSizeMax, localCount, remoteCount: entries.length - localCount };
  }

  const handlers: Handlers = {};
  for (const [method, value] of Object.entries(constants)) {
    const answer = answered(value);
    handlers[method] = () => answer;
  }
  return {
    ...handlers,
    ibft_getSignerMetrics: () => answered(signerMetrics()),
    txpool_besuStatistics: () => answered(poolStatistics()),
    txpool_besuTransactions: () => answered(poolTransactions()),
    txpool_status: () => answered({ pending: hex(pool.entries().length), queued: "0x0" }),
    web3_sha3: ([data]) =>
      typeof data === "string" && /^0x([0-9a-f]{2})*$/i.test(data)
        ? answered(keccak256(data))
        : refused(besuErrors.invalidParams),
    eth_sendTransaction: () => refused(besuErrors.sendTransactionNotSupported),
  };
}

const notEnabled = /^(admin|miner|perm|plugins|qbft|engine|testing)_|^eth_(coinbase|subscribe|unsubscribe)$/;

/** What Besu answers to a method for which there is no handler. */
export function refuseMethod(method: string) {
  return refused(notEnabled.test(method) ? besuErrors.methodNotEnabled : besuErrors.methodNotFound);
}
