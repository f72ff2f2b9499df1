import { downMax, faultyMax, quorumOf } from "../../../lib/ibft/quorum.ts";

/** What a number of validators means: how many have to seal, how many may be down or lie. */
export type QuorumFacts = { validators: number; quorum: number; downMax: number; faultyMax: number };

export function quorumFacts(validators: number): QuorumFacts {
  return {
    validators,
    quorum: quorumOf(validators),
    downMax: downMax(validators),
    faultyMax: faultyMax(validators),
  };
}

/** `5 validators: 4 have to seal a block, so 1 may be down; 1 may lie.` */
export function quorumText(count: number): string {
  const { validators, quorum, downMax: down, faultyMax: faulty } = quorumFacts(count);
  const many = validators === 1 ? "1 validator" : `${validators} validators`;
  return `${many}: ${quorum} have to seal a block, so ${down || "none"} may be down; ${faulty || "none"} may lie.`;
}
