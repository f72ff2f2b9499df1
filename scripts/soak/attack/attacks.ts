import type { Attack } from "./attack.ts";
import { attacksWithKey } from "./with-key.ts";
import { attacksWithoutKey } from "./without-key.ts";

/** Every attack by its name. */
export const attacks: Readonly<Record<string, Attack>> = { ...attacksWithoutKey, ...attacksWithKey };
