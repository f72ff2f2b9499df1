/** What a contract does when it is asked: returns these bytes, or fails in one of the ways there are. */
export type TokenAnswer = { returns: string } | "reverts" | "loops" | "is invalid" | "returns a megabyte";

const opcodes: Readonly<Record<string, string>> = {
  SUB: "03",
  EQ: "14",
  SHR: "1c",
  CALLDATALOAD: "35",
  CALLDATASIZE: "36",
  CALLDATACOPY: "37",
  CODECOPY: "39",
  JUMP: "56",
  JUMPI: "57",
  JUMPDEST: "5b",
  PUSH0: "5f",
  DUP1: "80",
  STOP: "00",
  LOG3: "a3",
  LOG4: "a4",
  RETURN: "f3",
  REVERT: "fd",
  INVALID: "fe",
};

const selectors = { name: "06fdde03", symbol: "95d89b41", decimals: "313ce567" } as const;

/**
 * Code of a contract that answers `name()`, `symbol()` and `decimals()` as it is told, and otherwise writes the log that
 * its input describes (see `logInput`). For `anvil_setCode`.
 */
export function tokenCode(answers: Partial<Record<keyof typeof selectors, TokenAnswer>>): string {
  const names = ["name", "symbol", "decimals"] as const;
  const dispatch = names.flatMap((name) => [...["DUP1", `0x${selectors[name]}`, "EQ", `@${name}`, "JUMPI"]]);
  const bodies = names.flatMap((name) => [`:${name}`, ...answering(name, answers[name] ?? "reverts")]);
  const data = names.flatMap((name) => {
    const answer = answers[name];
    return typeof answer === "object" ? [{ name: `${name} data`, bytes: answer.returns.slice(2) }] : [];
  });
  const program = [
    ...["PUSH0", "CALLDATALOAD", "0xe0", "SHR", ...dispatch],
    // The data of the log, then its topics, the last one first.
    ...["0xa0", "CALLDATASIZE", "SUB", "0xa0", "PUSH0", "CALLDATACOPY"],
    ...["PUSH0", "CALLDATALOAD", "0x04", "EQ", "@four", "JUMPI"],
    ...["0x60", "CALLDATALOAD", "0x40", "CALLDATALOAD", "0x20", "CALLDATALOAD", ...logged, "LOG3", "STOP"],
    ...[":four", "0x80", "CALLDATALOAD", "0x60", "CALLDATALOAD", "0x40", "CALLDATALOAD"],
    ...["0x20", "CALLDATALOAD", ...logged, "LOG4", "STOP"],
    ...bodies,
  ];
  return assemble(program, data);
}

const logged = ["0xa0", "CALLDATASIZE", "SUB", "PUSH0"];

function answering(name: string, answer: TokenAnswer): string[] {
  if (answer === "reverts") return ["PUSH0", "PUSH0", "REVERT"];
  if (answer === "is invalid") return ["INVALID"];
  if (answer === "loops") return [`@${name}`, "JUMP"];
  if (answer === "returns a megabyte") return ["0x100000", "PUSH0", "RETURN"];
  return [`#${name} data`, `@${name} data`, "PUSH0", "CODECOPY", `#${name} data`, "PUSH0", "RETURN"];
}

/** `:label` is a place, `@label` its address, `#label` the length of what stands there, `0x…` a constant. */
function assemble(program: readonly string[], data: readonly { name: string; bytes: string }[]): string {
  const addressBytes = 3;
  const lengthOf = (word: string) => {
    if (word.startsWith("@") || word.startsWith("#")) return 1 + addressBytes;
    return word.startsWith("0x") ? 1 + (word.length - 2) / 2 : 1;
  };
  const places = new Map<string, number>();
  let at = 0;
  for (const word of program) {
    if (word.startsWith(":")) places.set(word.slice(1), at);
    at += lengthOf(word);
  }
  for (const { name, bytes } of data) {
    places.set(name, at);
    at += bytes.length / 2;
  }
  const lengths = new Map(data.map(({ name, bytes }) => [name, bytes.length / 2]));
  const pushed = (value: number | undefined) =>
    `62${(value ?? 0).toString(16).padStart(2 * addressBytes, "0")}`;
  const written = program.map((word) => {
    if (word.startsWith(":")) return opcodes["JUMPDEST"];
    if (word.startsWith("@")) return pushed(places.get(word.slice(1)));
    if (word.startsWith("#")) return pushed(lengths.get(word.slice(1)));
    if (word.startsWith("0x")) return `${(0x5f + (word.length - 2) / 2).toString(16)}${word.slice(2)}`;
    return opcodes[word];
  });
  return `0x${written.join("")}${data.map(({ bytes }) => bytes).join("")}`;
}

/** Input that makes a token write a log of three or four topics. */
export function logInput({ topics, data }: { topics: readonly string[]; data: string }): string {
  const words = [topics.length.toString(16), ...topics.map((topic) => topic.slice(2))];
  const head = [...words, "", "", "", ""].slice(0, 5).map((word) => word.padStart(64, "0"));
  return `0x${head.join("")}${data.slice(2)}`;
}
