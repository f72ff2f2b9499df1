import { z } from "zod";
import type { Manifest } from "../../../genesis/manifest.ts";
import { askAsOperator } from "../chain/ask-as-operator.ts";
import type { NetworkNode } from "../nodes.ts";

/** Tells nodes what to vote, with their operator's key. Never through the gateway, which refuses these methods. */
export type VotePost = {
  /** @returns those that took it. */
  propose(
    nodes: readonly NetworkNode[],
    vote: { recipient: string; add: boolean },
  ): Promise<readonly NetworkNode[]>;
  /** @returns those that run and did not take it. */
  discard(nodes: readonly NetworkNode[], recipient: string): Promise<readonly NetworkNode[]>;
  /** What a node was told and has not been told to forget: by address, true to add. Undefined where it does not say. */
  pending(node: NetworkNode): Promise<Readonly<Record<string, boolean>> | undefined>;
};

/** A node that does not answer must not hold up the votes of the others. */
const timeoutMs = 5000;
const pendingSchema = z.record(z.string().toLowerCase(), z.boolean());

export function createVotePost({
  consensus,
  privateKey,
  isRunning,
  now,
}: {
  consensus: Manifest["consensus"];
  /** The operator's, PEM. */
  privateKey: string;
  isRunning: (name: string) => Promise<boolean>;
  now: () => number;
}): VotePost {
  const family = consensus === "ibft2" ? "ibft" : "qbft";
  const ask = (node: NetworkNode, method: string, params: readonly unknown[]) =>
    askAsOperator({
      url: node.rpcUrl,
      privateKey,
      method: `${family}_${method}`,
      params,
      nowMs: now(),
      timeoutMs,
    });

  return {
    async propose(nodes, { recipient, add }) {
      const taken = await Promise.all(
        nodes.map(async (node) => {
          const answer = await ask(node, "proposeValidatorVote", [recipient, add]);
          return "result" in answer && answer.result === true ? [node] : [];
        }),
      );
      return taken.flat();
    },
    async discard(nodes, recipient) {
      const left = await Promise.all(
        nodes.map(async (node) => {
          // One that is down has forgotten it.
          if (!(await isRunning(node.name))) return [];
          const answer = await ask(node, "discardValidatorVote", [recipient]);
          return "result" in answer ? [] : [node];
        }),
      );
      return left.flat();
    },
    async pending(node) {
      const answer = await ask(node, "getPendingVotes", []);
      return "result" in answer ? pendingSchema.safeParse(answer.result).data : undefined;
    },
  };
}
