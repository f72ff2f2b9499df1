const heading = /^## \[?Unreleased\]?[ \t]*$/m;

/**
 * Gives what stands under "Unreleased" a version and a day (https://keepachangelog.com/), and begins an empty "Unreleased" above it.
 * @param day - Such as 2026-11-23.
 * @returns the whole text and the new chapter's, or why there is nothing to release.
 */
export function releaseChangelog(
  text: string,
  { version, day }: { version: string; day: string },
): { text: string; notes: string } | { wrong: string } {
  const found = heading.exec(text);
  if (found === null) return { wrong: 'CHANGELOG.md has no chapter "## Unreleased".' };
  const begin = found.index + found[0].length;
  const next = text.slice(begin).search(/^## /m);
  const end = next === -1 ? text.length : begin + next;
  const notes = text.slice(begin, end).trim();
  if (!/^- /m.test(notes)) {
    return {
      wrong:
        'CHANGELOG.md has nothing under "## Unreleased": what does this version bring to those who run it?',
    };
  }
  if (new RegExp(`^## \\[?${version.replaceAll(".", "\\.")}\\]?\\b`, "m").test(text)) {
    return { wrong: `CHANGELOG.md has a chapter of ${version} already.` };
  }
  const rest = text.slice(end);
  const chapter = `${found[0].trimEnd()}\n\n## ${version} - ${day}\n\n${notes}\n`;
  return { text: text.slice(0, found.index) + chapter + (rest === "" ? "" : `\n${rest}`), notes };
}
