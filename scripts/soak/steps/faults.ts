import type { Validators } from "../../../test/fakes/validators/start-validators.ts";

type Validator = Validators["validators"][number];

/** Faults of a validator, which last until it heals. */
const faults = {
  die: (validator) => validator.die(),
  hang: (validator) => validator.hang(),
  slow: (validator) => validator.slow(700),
  freeze: (validator) => validator.freeze(),
  garbage: (validator) => validator.garbage("halfJson"),
  status: (validator) => validator.status(502),
  cut: (validator) => validator.cutBody("length"),
  wrongIds: (validator) => validator.wrongIds(),
  missingId: (validator) => validator.missingId(),
  arrayAsErrorObject: (validator) => validator.arrayAsErrorObject(),
  dropWebSockets: (validator) => validator.dropWebSockets(),
  silentWebSocket: (validator) => validator.silentWebSocket(),
  lieNext: (validator) => validator.lie("next"),
  lieJump: (validator) => validator.lie("jump"),
  lieBranch: (validator) => validator.lie("branch"),
} satisfies Record<string, (validator: Validator) => unknown>;

export type FaultName = keyof typeof faults;

export const faultNames: readonly FaultName[] = [
  ...(["die", "hang", "slow", "freeze", "garbage", "status", "cut", "wrongIds", "missingId"] as const),
  ...([
    "arrayAsErrorObject",
    "dropWebSockets",
    "silentWebSocket",
    "lieNext",
    "lieJump",
    "lieBranch",
  ] as const),
];

export async function strike(validator: Validator, fault: FaultName): Promise<void> {
  await faults[fault](validator);
}
