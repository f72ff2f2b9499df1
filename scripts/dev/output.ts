import type { Writable } from "node:stream";

export type Output = {
  /** Writes a child's line behind the child's name. */
  childLine(name: string, line: string): void;
  /** Writes lines of npm start itself. */
  say(text: string): void;
};

/** As wide as the longest name of a process, so that the lines of all of them begin in one column. */
const nameChars = 8;
const colours = [36, 35, 33, 32, 34, 96, 95, 93];

/** Writes to one stream; names are coloured on a terminal, unless NO_COLOR is set (https://no-color.org). */
export function createOutput({ stream, coloured }: { stream: Writable; coloured: boolean }): Output {
  const colourOf = new Map<string, number>();
  // A terminal that was closed or a pipe that ended must not keep us from stopping our children.
  stream.on("error", () => {});
  const prefix = (name: string) => {
    const text = `${name.padEnd(nameChars)} │ `;
    if (!coloured) return text;
    const colour = colourOf.get(name) ?? colours[colourOf.size % colours.length] ?? 36;
    colourOf.set(name, colour);
    return `\x1b[${colour}m${text}\x1b[0m`;
  };
  return {
    childLine: (name, line) => void stream.write(`${prefix(name)}${line}\n`),
    say: (text) => void stream.write(`${text}\n`),
  };
}
