/**
 * Whether an `Accept` field takes a media type: of the ranges that match it the most specific one decides (RFC 9110 section
 * 12.5.1). Without the field anything is taken.
 */
export function accepts(field: string | undefined, type: string): boolean {
  if (field === undefined || field.trim() === "") return true;
  const [group] = type.split("/");
  const byPrecedence = [type, `${group}/*`, "*/*"];
  let best: { rank: number; isTaken: boolean } | undefined;
  for (const range of field.split(",")) {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const rank = byPrecedence.indexOf(name);
    if (rank === -1 || (best !== undefined && best.rank < rank)) continue;
    const isRefused = parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter));
    best = { rank, isTaken: !isRefused || (best?.rank === rank && best.isTaken) };
  }
  return best?.isTaken ?? false;
}
