import { z } from "zod";
import { ChainUnavailableError, type RpcClient } from "../../lib/chain/rpc-client.ts";
import { hash, quantity } from "../../lib/chain/rpc-values.ts";

/** How far a validator's own RPC is; null where it does not say. */
export type ValidatorHead =
  | { state: "up"; height: number; peers: number | null }
  /** Of another network: a process of somebody else's may have the port of a node that is down. */
  | { state: "silent" | "foreign" };

const blockSchema = z.object({ hash });
/** Whoever looks again before it gets the same; so validators are asked once for everybody who looks. */
const freshMs = 2000;
/** What is older is waited for; before, it is told while it is asked for anew. */
const staleMs = 15_000;

/**
 * The heads of the validators that can be asked, in the order of the configuration. One that is silent holds nobody up
 * but the first who looks: the others get what was last known.
 */
export function createValidatorHeads({
  sources,
  monotonicMs = () => performance.now(),
}: {
  /** Clients of the validators' own RPC addresses, with short timeouts. */
  sources: readonly Pick<RpcClient, "askAll">[];
  monotonicMs?: () => number;
}): (genesisHash: string) => Promise<readonly ValidatorHead[]> {
  let known: { heads: ValidatorHead[]; atMs: number } | undefined;
  let asking: Promise<ValidatorHead[]> | undefined;

  async function askAll(genesisHash: string): Promise<ValidatorHead[]> {
    const heads = await Promise.all(sources.map((source) => askOne(source, genesisHash)));
    known = { heads, atMs: monotonicMs() };
    return heads;
  }

  return async (genesisHash) => {
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : monotonicMs() - known.atMs;
    if (known !== undefined && ageMs < freshMs) return known.heads;
    asking ??= askAll(genesisHash).finally(() => {
      asking = undefined;
    });
    return known !== undefined && ageMs < staleMs ? known.heads : asking;
  };
}

async function askOne(source: Pick<RpcClient, "askAll">, genesisHash: string): Promise<ValidatorHead> {
  try {
    const answers = await source.askAll([
      { method: "eth_blockNumber", params: [] },
      { method: "net_peerCount", params: [] },
      { method: "eth_getBlockByNumber", params: ["0x0", false] },
    ]);
    const [height, peers, genesis] = answers.map((answer) =>
      "result" in answer ? answer.result : undefined,
    );
    const read = quantity.safeParse(height);
    if (!read.success) return { state: "silent" };
    if (blockSchema.safeParse(genesis).data?.hash !== genesisHash) return { state: "foreign" };
    return { state: "up", height: read.data, peers: quantity.safeParse(peers).data ?? null };
  } catch (error) {
    if (error instanceof ChainUnavailableError) return { state: "silent" };
    throw error;
  }
}
