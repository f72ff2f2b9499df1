/**
 * Whether an SPDX licence expression leaves us a choice of allowed licences alone: `OR` one of them, `AND` all.
 * https://spdx.github.io/spdx-spec/v2.3/SPDX-license-expressions/
 * @returns false also for what is no expression.
 */
export function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  const words = expression.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const take = (word: string) => {
    if (words[at] !== word) return false;
    at += 1;
    return true;
  };
  // Both sides are read whatever the first one says.
  function either(): boolean {
    let value = both();
    while (take("OR")) value = both() || value;
    return value;
  }
  function both(): boolean {
    let value = one();
    while (take("AND")) value = one() && value;
    return value;
  }
  function one(): boolean {
    if (take("(")) {
      const value = either();
      return take(")") && value;
    }
    const licence = words[at] ?? "";
    at += 1;
    // An exception is part of the licence: nobody has looked at it.
    if (take("WITH")) {
      at += 1;
      return allowed.has(`${licence} WITH ${words[at - 1]}`);
    }
    return allowed.has(licence);
  }
  const value = either();
  return value && at === words.length;
}
