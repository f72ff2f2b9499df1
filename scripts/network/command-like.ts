import { textOf } from "../../lib/cli/command.ts";
import type { CommandInput } from "./command.ts";

/** Another command with the options that say which network is meant. */
export function commandLike({ values }: Pick<CommandInput, "values">, name: string): string {
  const given = ["at", "folder", "config"].flatMap((option) => {
    const text = textOf(values, option);
    return text === undefined ? [] : [`--${option} ${text}`];
  });
  return [name, ...(values["native"] === true ? ["--native"] : []), ...given].join(" ");
}
