import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import { createApiKey } from "../../../lib/keys/api-key.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { waitFor } from "../../helpers/wait-for.ts";

export type CommandUnderTest = {
  /** What it wrote so far, standard output and error together. */
  output(): string;
  /** Waits for a text; throws where it ends without having written it. */
  writes(text: string): Promise<void>;
  /** Waits until it is up. */
  port(): Promise<number>;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<{ code: number | null; output: string }>;
};

const mainFile = fileURLToPath(new URL("../../../gateway/wallet-proxy/main.ts", import.meta.url));

/** The wallet proxy as a process of its own, killed when the test ends. */
export function runCommand(
  t: Test,
  args: readonly string[],
  { program = process.execPath, programArgs = ["--disable-warning=ExperimentalWarning", mainFile] } = {},
): CommandUnderTest {
  const child = spawn(program, [...programArgs, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let isOver = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const ended = once(child, "close").then(() => {
    isOver = true;
    return { code: child.exitCode, output };
  });
  t.teardown(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const writes = async (text: string) => {
    await waitFor(`it writes "${text}"`, () => {
      if (isOver && !output.includes(text)) throw new Error(`it ended without "${text}": ${output}`);
      return output.includes(text);
    });
  };
  return {
    output: () => output,
    writes,
    async port() {
      await writes("wallet proxy is up");
      return Number(/"url":"http:\/\/127\.0\.0\.1:(\d+)\/"/.exec(output)?.[1]);
    },
    kill: (signal) => void child.kill(signal),
    ended,
  };
}

/** Writes a key file and gives its path. */
export function writeKey(
  t: Test,
  { text = createApiKey({ profile: "development" }), mode = 0o600 }: { text?: string; mode?: number } = {},
): string {
  const file = join(testFolder(t, {}), "key");
  writeFileSync(file, text, { mode });
  return file;
}
