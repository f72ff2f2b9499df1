const [quick, thorough] = [3, 20];

/** The seeds of a test that draws its faults: a few, more where CI is set, or those of SEED=7 or SEED=7,8. */
export function soakSeeds(
  env: Readonly<Record<string, string | undefined>> = process.env,
  { inCi = thorough }: { inCi?: number } = {},
): number[] {
  if (env["SEED"] !== undefined) return env["SEED"].split(",").map(Number);
  const count = env["CI"] === undefined ? quick : inCi;
  return Array.from({ length: count }, (_, index) => index + 1);
}
