import type { CommandDescription, OptionTable, Program } from "./command.ts";

/** All commands of a program, or some of them, one line each. */
export function overview<Command extends CommandDescription>(
  { invocation, commonOptions, ...program }: Program<Command>,
  commands: readonly Command[] = program.commands,
): string {
  const width = Math.max(...commands.map((command) => usage(command).length));
  return [
    `Usage: ${invocation} COMMAND [OPTIONS]`,
    "",
    ...commands.map((command) => `  ${usage(command).padEnd(width)}  ${command.summary}`),
    "",
    `${invocation} COMMAND --help tells the options of each. All take:`,
    "",
    ...optionLines(commonOptions),
  ].join("\n");
}

/** One command with its options. */
export function help<Command extends CommandDescription>(
  { invocation, commonOptions }: Program<Command>,
  command: Command,
): string {
  return [
    `Usage: ${invocation} ${usage(command)} [OPTIONS]`,
    "",
    command.summary,
    ...command.details,
    "",
    ...optionLines({ ...command.options, ...commonOptions }),
    "",
    ...command.examples.map((example) => `Example: ${invocation} ${example}`),
  ].join("\n");
}

function usage({ name, positionals }: CommandDescription): string {
  return [name, ...positionals].join(" ");
}

function optionLines(options: OptionTable): string[] {
  const rows = Object.entries(options).map(([name, { value, text, required }]) => ({
    left: `--${name}${value === undefined ? "" : ` ${value}`}`,
    right: required ? `${text} (required)` : text,
  }));
  const width = Math.max(...rows.map(({ left }) => left.length));
  return rows.map(({ left, right }) => `  ${left.padEnd(width)}  ${right}`);
}
