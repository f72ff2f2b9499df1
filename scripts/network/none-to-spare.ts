import { quorumOf } from "../../lib/ibft/quorum.ts";
import type { NetworkStatus } from "./chain/network-status.ts";
import type { CommandInput } from "./command.ts";
import { commandLike } from "./command-like.ts";
import type { NotChanged } from "./validators/change.ts";

/** Why no validator may be stopped for a while now: without it the chain would stand. `underway` names one that may be down already. */
export function whyNoneToSpare(
  input: Pick<CommandInput, "values">,
  { validators, members, verdict, reasons }: NetworkStatus,
  {
    underway,
    takesOneAway = true,
    what,
  }: {
    underway: string | undefined;
    /** Whether it is a validator that is stopped: the chain can do without a node that is none. */
    takesOneAway?: boolean;
    /** Such as "an upgrade". */
    what: string;
  },
): NotChanged | undefined {
  const down = validators.filter(
    ({ name, inSet, takesPart, state }) => name !== underway && (inSet ? !takesPart : state !== "up"),
  );
  const quorum = quorumOf(members);
  if (takesOneAway && down.length > 0) {
    const names = down.map(({ name }) => name).join(", ");
    return {
      failed:
        `Not now: ${names} ${down.length === 1 ? "is" : "are"} down or behind already, and ${what} takes one more away for a while ` +
        `(${quorum} of ${members} have to seal a block). Nothing more is changed.\n  ${reasons.join("\n  ")}\nBring it back first: npm run network -- ${commandLike(input, "status")}`,
      code: 1,
    };
  }
  if (takesOneAway && members - 1 < quorum) {
    return {
      failed: `With ${members} validators each has to seal each block: the chain would stand while one restarts. Nothing is changed; add validators first (validator add).`,
      code: 1,
    };
  }
  // The one that a run before has left may be why it stands.
  if (verdict === "stalled" && underway === undefined)
    return { failed: `The chain stands still: nothing is changed.\n  ${reasons.join("\n  ")}`, code: 1 };
  return undefined;
}
