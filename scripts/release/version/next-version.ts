const form = /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/;

/**
 * The version that a word asks for: `patch`, `minor`, `major`, or a version of its own that is newer (https://semver.org/).
 * @returns the version, or what is wrong with the word.
 */
export function nextVersion(current: string, word: string): { version: string } | { wrong: string } {
  const [major = 0, minor = 0, patch = 0] = numbersOf(current) ?? [];
  if (word === "major") return { version: `${major + 1}.0.0` };
  if (word === "minor") return { version: `${major}.${minor + 1}.0` };
  if (word === "patch") return { version: `${major}.${minor}.${patch + 1}` };
  const asked = numbersOf(word);
  if (asked === undefined) {
    return {
      wrong: `patch, minor, major or a version such as ${major}.${minor + 1}.0 was expected, not "${word}".`,
    };
  }
  const now = [major, minor, patch];
  const first = asked.findIndex((number, index) => number !== now[index]);
  const isNewer = first !== -1 && (asked[first] ?? 0) > (now[first] ?? 0);
  return isNewer ? { version: word } : { wrong: `${word} is not newer than ${current}.` };
}

function numbersOf(version: string): number[] | undefined {
  const found = form.exec(version);
  return found === null ? undefined : found.slice(1).map(Number);
}
