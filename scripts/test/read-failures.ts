/** The lines of a TAP stream that tell of failures: each `not ok`, with the diagnostics below it. */
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
  return lines;
}
