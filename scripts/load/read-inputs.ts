import { accessSync, constants, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { SigningKey } from "ethers/crypto";
import { isHexString } from "ethers/utils";
import { ConfigError, readConfig } from "../../lib/config/read-config.ts";
import { type Mix, mixSchema } from "./mix/mix-schema.ts";
import type { LoadOptions } from "./options.ts";
import { mostClients, type Plan } from "./plan/plan.ts";
import { readPlan } from "./plan/read-plan.ts";
import type { ThresholdRule } from "./thresholds/rule.ts";

export type Inputs = {
  key: string;
  ca: string | undefined;
  mix: Mix;
  mixFile: string;
  plan: Plan;
  thresholds: readonly ThresholdRule[];
  connections: number;
  funder: SigningKey | undefined;
};

/** What is wrong with the input, and what to do about it. */
export class InputError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InputError";
  }
}

const connectionsDefault = 64;
const defaultMixFile = fileURLToPath(new URL("../../config/mix.yaml", import.meta.url));
/** Visible ASCII: what can stand in a header. */
const keyPattern = /^[\x21-\x7e]{1,200}$/;

/** Reads everything that the options name, before the first request. @throws InputError */
export function readInputs(options: LoadOptions, env: Readonly<Record<string, string | undefined>>): Inputs {
  const { key, keyFile, caFile, funderKeyFile, mixFile, jsonFile, htmlFile, junitFile } = options;
  for (const file of [jsonFile, htmlFile, junitFile]) {
    if (file !== undefined && file !== "-") mustBeWritable(file);
  }
  const file = mixFile ?? defaultMixFile;
  const mix = readMix(file, env);
  const plan = readPlan(options, mix);
  if (plan === undefined) {
    throw new InputError(
      "--rate N is missing: how many scripts to begin a second (or --ramp, --clients, or `stages` in the load file).",
    );
  }
  const { processes } = options;
  const senders = mix.senders?.privateKeys?.length ?? mix.senders?.count;
  if (senders !== undefined && senders < processes) {
    throw new InputError(
      `${senders} senders cannot be shared by ${processes} processes: each needs one of its own.`,
    );
  }
  return {
    key: readKey({ key, keyFile, fromEnv: env["TOLLGATE_KEY"] }),
    ca: caFile === undefined ? undefined : readText(caFile, "--ca"),
    mix,
    mixFile: file,
    plan,
    thresholds: [...options.thresholds, ...(mix.thresholds ?? [])],
    connections:
      options.connections ??
      Math.max(connectionsDefault, plan.kind === "clients" ? mostClients(plan.stages) : 0),
    funder: funderKeyFile === undefined ? undefined : readFunder(funderKeyFile),
  };
}

function readKey({
  key,
  keyFile,
  fromEnv,
}: {
  key: string | undefined;
  keyFile: string | undefined;
  fromEnv: string | undefined;
}): string {
  const given = key ?? (keyFile === undefined ? fromEnv : readText(keyFile, "--key-file"));
  const text = given?.trim() ?? "";
  if (text === "" && keyFile === undefined) {
    throw new InputError(
      "No API key: name a file that holds it with --key-file FILE, or set TOLLGATE_KEY (npm start prints keys for " +
        "development; npm run keys makes others).",
    );
  }
  if (keyPattern.test(text)) return text;
  throw new InputError(
    `${keyFile ?? "The API key"} is no API key: one word of letters, digits and signs was expected.`,
  );
}

function readMix(file: string, env: Readonly<Record<string, string | undefined>>): Mix {
  try {
    return readConfig({ file, schema: mixSchema, env });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const lines = error.problems.join("\n  ").replace("--config FILE", "--mix FILE");
    throw new InputError(`The mix cannot be used:\n  ${lines}`);
  }
}

function readFunder(file: string): SigningKey {
  const text = readText(file, "--funder-key-file").trim();
  const hex = text.startsWith("0x") ? text : `0x${text}`;
  if (isHexString(hex, 32)) return new SigningKey(hex);
  throw new InputError(`${file} is no private key: 64 hex digits were expected.`);
}

function readText(file: string, option: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new InputError(`${option}: ${file} cannot be read (${reasonOf(cause)}).`);
  }
}

/** Checked before a long run, not after it. */
function mustBeWritable(file: string): void {
  try {
    accessSync(dirname(resolve(file)), constants.W_OK);
  } catch (cause) {
    throw new InputError(`${file} cannot be written: its folder is missing or closed (${reasonOf(cause)}).`);
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
}
