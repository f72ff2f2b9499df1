import type { SingleProgram } from "../../lib/cli/command.ts";
import { readProgram } from "../../lib/cli/read-program.ts";
import { namesOutOf, positiveNumber, seedNumber, wholeNumber } from "../../lib/cli/values.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import { attacks } from "./attack/attacks.ts";
import { type AttackFindings, runAttacks } from "./attack/run-attacks.ts";

const program: SingleProgram = {
  invocation: "npm run soak -- attack",
  summary:
    "Three gateways with the shipped configuration, before five validators that can be hurt, are attacked by clients without\n" +
    "a key and with one, while a quiet key's calls are measured: none may fail, and none may take longer than twice the time\n" +
    "without the attack, one call's length and --slack milliseconds. Prints a line an attack, and ends with exit code 1 where\n" +
    "something did not hold.",
  options: {
    seed: { value: "S", text: "the order of the attacks and what they draw", default: "1" },
    seconds: { value: "N", text: "of each attack", default: "5" },
    scale: {
      value: "X",
      text: "1: as many connections and calls as were found to hurt; 0.1: a tenth",
      default: "1",
    },
    only: { value: "NAMES", text: `some of: ${Object.keys(attacks).join(", ")}` },
    tree: { value: "DIR", text: "attacks the gateways of another checkout, for a comparison" },
    slack: { value: "MS", text: "what a busy machine may add to a quiet call", default: "150" },
  },
};

/** `npm run soak -- attack`. @returns the exit code. */
export async function soakAttack(args: readonly string[]): Promise<0 | 1 | 2> {
  const read = readProgram(program, args, ({ need, read: optional, text }) => {
    const names = optional("only", namesOutOf(Object.keys(attacks)));
    const tree = text("tree");
    return {
      seed: need("seed", seedNumber),
      durationMs: need("seconds", positiveNumber) * 1000,
      scale: need("scale", positiveNumber),
      slackMs: need("slack", wholeNumber(600_000, 0)),
      ...(names === undefined ? {} : { names }),
      ...(tree === undefined ? {} : { tree }),
    };
  });
  if (read.kind !== "run") {
    const isHelp = read.kind === "help";
    (isHelp ? process.stdout : process.stderr).write(read.text);
    return isHelp ? exitCodes.done : exitCodes.unusable;
  }
  const { options } = read;
  const stops: (() => unknown)[] = [];
  try {
    process.stdout.write(`seed ${options.seed}; quiet calls in ms: alone → under attack (median, p99)\n`);
    const found = await runAttacks(
      { teardown: (stop) => stops.unshift(stop) },
      { ...options, onFindings: (findings) => process.stdout.write(`${toLine(findings)}\n`) },
    );
    return found.some(({ broken }) => broken.length > 0) ? 1 : 0;
  } finally {
    for (const stop of stops) await stop();
  }
}

function toLine({
  name,
  alone,
  quiet,
  failures,
  residentBytesMax,
  validatorsLost,
  validatorsLateMs,
  outcomes,
  broken,
}: AttackFindings) {
  const times = (["read", "call"] as const).map(
    (kind) =>
      `${kind} ${alone[kind].p50Ms}, ${alone[kind].p99Ms} → ${quiet[kind].p50Ms}, ${quiet[kind].p99Ms}`,
  );
  const seen = Object.entries(outcomes).map(([what, count]) => `${what} ${count}`);
  const facts = [
    ...times,
    `${failures.length} of ${quiet.read.count + quiet.call.count} failed`,
    `${Math.round(residentBytesMax / 1024 / 1024)} MiB`,
    `validators late ${validatorsLateMs}`,
    ...(validatorsLost > 0 ? [`${validatorsLost} validators lost`] : []),
  ];
  const lines = [`${name}: ${facts.join("; ")} (attacker: ${seen.join(", ")})`];
  return [...lines, ...broken.map((problem) => `  broken: ${problem}`)].join("\n");
}
