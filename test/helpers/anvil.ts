import { type OwnAnvil, startOwnAnvil } from "../../scripts/processes/own-anvil.ts";
import type { Teardown } from "../../scripts/processes/teardown.ts";

export type AnvilUnderTest = OwnAnvil;

/** A real dev chain of its own on a free loopback port, gone when the test ends. */
export async function startAnvil(
  t: Teardown,
  options: Parameters<typeof startOwnAnvil>[1] = {},
): Promise<AnvilUnderTest> {
  return await startOwnAnvil(t, options);
}
