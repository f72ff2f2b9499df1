import { parseArgs } from "node:util";
import { attacks } from "./attack/attacks.ts";
import { type AttackFindings, runAttacks } from "./attack/run-attacks.ts";

const usage = `Usage: npm run soak -- attack [--seed S] [--seconds N] [--scale X] [--only NAME,NAME] [--tree DIR]

Three gateways with the shipped configuration, before five validators that can be hurt, are attacked by clients without
a key and with one, while a quiet key's calls are measured: none may fail, and none may take longer than twice the time
without the attack, one call's length and --slack milliseconds. Prints a line an attack, and ends with exit code 1 where
something did not hold.

  --seed S       the order of the attacks and what they draw (1)
  --seconds N    of each attack (5)
  --scale X      1: as many connections and calls as were found to hurt; 0.1: a tenth
  --only NAMES   some of: ${Object.keys(attacks).join(", ")}
  --tree DIR     attacks the gateways of another checkout, for a comparison
  --slack MS     what a busy machine may add to a quiet call (150)
`;

/** The attacks' part of `npm run soak`. Answers the exit code. */
export async function soakAttack(args: readonly string[]): Promise<0 | 1 | 2> {
  const read = readArguments(args);
  if (read === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  if (read === "help") {
    process.stdout.write(usage);
    return 0;
  }
  const stops: (() => unknown)[] = [];
  try {
    process.stdout.write(`seed ${read.seed}; quiet calls in ms: alone → under attack (median, p99)\n`);
    const found = await runAttacks(
      { teardown: (stop) => stops.unshift(stop) },
      { ...read, onFindings: (findings) => process.stdout.write(`${toLine(findings)}\n`) },
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

type Read = {
  seed: number;
  durationMs: number;
  scale: number;
  slackMs: number;
  names?: readonly string[];
  tree?: string;
};

function readArguments(args: readonly string[]): Read | "help" | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seed: { type: "string", default: "1" },
        seconds: { type: "string", default: "5" },
        scale: { type: "string", default: "1" },
        slack: { type: "string", default: "150" },
        only: { type: "string" },
        tree: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return "help";
    const names = values.only?.split(",");
    const read = {
      seed: Number(values.seed),
      durationMs: Number(values.seconds) * 1000,
      scale: Number(values.scale),
      slackMs: Number(values.slack),
    };
    const isUsable =
      Number.isSafeInteger(read.seed) &&
      read.durationMs > 0 &&
      read.scale > 0 &&
      read.slackMs >= 0 &&
      (names ?? []).every((name) => Object.hasOwn(attacks, name));
    if (!isUsable) return undefined;
    return {
      ...read,
      ...(names === undefined ? {} : { names }),
      ...(values.tree === undefined ? {} : { tree: values.tree }),
    };
  } catch {
    return undefined;
  }
}
