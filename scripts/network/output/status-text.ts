import { table } from "../../../lib/cli/format.ts";
import type { NetworkStatus, ValidatorStatus } from "../chain/network-status.ts";

/** A status for people: the verdict, why, and a table of the validators. */
export function statusText(status: NetworkStatus): string {
  const {
    verdict,
    reasons,
    height,
    ageSeconds,
    members,
    quorum,
    present,
    blocks,
    roundsAboveZero,
    validators,
  } = status;
  const at = height === null ? "no block" : `block ${height}`;
  const age = ageSeconds === null ? "" : `, ${ageSeconds} s old`;
  return [
    `${verdict === "fine" ? "Fine" : verdict === "stalled" ? "STALLED" : "AT THE EDGE OF QUORUM"}: ${at}${age}; ` +
      `${present} of ${members} validators take part, ${quorum} are needed.`,
    ...reasons.map((reason) => `  ${reason}`),
    "",
    table(
      ["VALIDATOR", "STATE", "HEIGHT", "PEERS", "PROPOSED", "MISSED TURNS", "MISSED SEALS", "LAG"],
      validators.map(rowOf),
    ),
    "",
    blocks === 0
      ? "No blocks to count in."
      : `Counted in the last ${blocks === 1 ? "block" : `${blocks} blocks`}; rounds above 0, after a missed turn: ${roundsAboveZero}.`,
  ].join("\n");
}

function rowOf(validator: ValidatorStatus): string[] {
  const { name, state, height, peers, proposed, missedTurns, missedSeals, lag } = validator;
  const orDash = (value: number | null) => (value === null ? "-" : String(value));
  return [
    name,
    validator.inSet ? state : `${state}, no validator`,
    orDash(height),
    orDash(peers),
    String(proposed),
    String(missedTurns),
    String(missedSeals),
    orDash(lag),
  ];
}
