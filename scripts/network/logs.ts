import { CommandError, textOf } from "../../lib/cli/command.ts";
import type { NetworkCommand } from "./command.ts";
import { findNode } from "./find-node.ts";

const linesDefault = 50;
const linesMax = 100_000;

export const logsCommand: NetworkCommand = {
  name: "logs",
  positionals: ["[N]"],
  summary: "Shows what the validators, or validator N, wrote last.",
  details: [],
  options: {
    lines: { value: "COUNT", text: `how many lines of each (${linesDefault})` },
    follow: { text: "and what they write from now on, until Ctrl-C" },
  },
  examples: ["logs --native", "logs 3 --follow --native"],
  async run({ values, positionals: [word], nodes, signal, print }) {
    const chosen = word === undefined ? nodes.list : [findNode(nodes, word)];
    const width = Math.max(...chosen.map(({ name }) => name.length));
    await Promise.all(
      chosen.map(({ name }) =>
        nodes.logs({
          name,
          linesMax: readLines(textOf(values, "lines")),
          follow: values["follow"] === true,
          signal,
          onLine: (line) => print(`${name.padEnd(width)} │ ${line}`),
        }),
      ),
    );
    return 0;
  },
};

function readLines(text: string | undefined): number {
  if (text === undefined) return linesDefault;
  const lines = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (lines >= 1 && lines <= linesMax) return lines;
  throw new CommandError(`--lines: a whole number from 1 to ${linesMax} was expected, got "${text}".`, {
    exitCode: 2,
  });
}
