/**
 * Whether what another process has told is of this program's version of its shape. The channel is open to our own processes
 * alone, so their version is all that can be wrong.
 */
export function isOfVersion<Told extends { version: number }>(
  value: unknown,
  version: number,
): value is Told {
  return typeof value === "object" && value !== null && "version" in value && value.version === version;
}
