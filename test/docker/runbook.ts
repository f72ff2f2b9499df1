/** A block of commands of docker/RUNBOOK.md. */
export type RunbookBlock = { chapter: string; state: string; commands: string; line: number };

/**
 * The blocks of a runbook in their order. Each has a comment above it that says in which state of the network it is meant to be
 * run; throws where one has none, so that no block is left out of the test without notice.
 */
export function readRunbook(text: string): RunbookBlock[] {
  const blocks: RunbookBlock[] = [];
  const lines = text.split("\n");
  let chapter = "";
  let state: string | undefined;
  let open: { line: number; commands: string[] } | undefined;
  for (const [index, line] of lines.entries()) {
    if (open !== undefined) {
      if (line !== "```") {
        open.commands.push(line);
        continue;
      }
      if (state === undefined) throw new Error(`line ${open.line}: a block without the state that it is for`);
      blocks.push({ chapter, state, commands: open.commands.join("\n"), line: open.line });
      [open, state] = [undefined, undefined];
      continue;
    }
    chapter = /^#{2,3} (.*)$/.exec(line)?.[1] ?? chapter;
    if (line.startsWith("```")) {
      if (line !== "```sh") throw new Error(`line ${index + 1}: commands stand in blocks of sh`);
      open = { line: index + 1, commands: [] };
    } else {
      const comment = /^<!-- ([a-z ,]+) -->$/.exec(line)?.[1];
      // Only right above its block, but for an empty line.
      if (line !== "") state = comment;
    }
  }
  return blocks;
}
