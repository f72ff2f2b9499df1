import type { CommandDescription, Option, OptionTable, Program, SingleProgram } from "./command.ts";

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

/** What is wrong with a command line, and where to read on. */
export function problemText(
  problem: string,
  { invocation, options, positionals = [] }: SingleProgram,
): string {
  return `${problem}\n\n${usageLine({ invocation, options, positionals })}\n${invocation} --help tells more.\n`;
}

/** A program of one command. */
export function programHelp(program: SingleProgram): string {
  const { invocation, options, positionals = [], summary, details = [] } = program;
  return [
    usageLine({ invocation, options, positionals }),
    "",
    summary,
    "",
    ...optionLines({ ...options, help: { text: "this text" } }),
    ...(details.length === 0 ? [] : ["", ...details]),
    "",
  ].join("\n");
}

function usageLine({
  invocation,
  options,
  positionals,
}: Pick<SingleProgram, "invocation" | "options"> & { positionals: readonly string[] }): string {
  const required = Object.entries(options)
    .filter(([, option]) => option.required)
    .map(([name, { value = "" }]) => `--${name} ${value}`);
  return ["Usage:", invocation, ...positionals, ...required, "[OPTIONS]"].join(" ");
}

function optionLines(options: OptionTable): string[] {
  const rows = Object.entries(options).map(([name, option]) => ({
    left: `--${name}${option.value === undefined ? "" : ` ${option.value}`}`,
    right: `${option.text}${noteOn(option)}`,
  }));
  const width = Math.max(...rows.map(({ left }) => left.length));
  return rows.map(({ left, right }) => `  ${left.padEnd(width)}  ${right}`);
}

function noteOn(option: Option): string {
  if (option.required) return " (required)";
  return option.default === undefined ? "" : ` (default: ${option.default})`;
}
