/**
 * The lines of a TAP stream that tell of failures: each `not ok`, with the diagnostics below it. The seeds of what ran at random
 * come first.
 */
export function readFailures(tap: string): string[] {
  const lines: string[] = [];
  let indent: string | undefined;
  for (const line of tap.split("\n")) {
    const begins = /^(\s*)not ok /.exec(line);
    if (begins !== null) {
      indent = begins[1];
      lines.push(line);
    } else if (indent !== undefined && line.startsWith(`${indent}  `)) lines.push(line);
    else indent = undefined;
  }
  if (lines.length === 0) return lines;
  return [...tap.split("\n").filter((line) => seedComment.test(line)), ...lines];
}

/** As tests write it: `# SCAN_SEED=7`, `# seed 7`. */
const seedComment = /^\s*# .*\bseed[ =]\d|_SEED=\d/;
