import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Limits, keys, filters and the faucet: the folders whole, but for what opens a browser or asks nothing of Redis. */
const folders = ["test/gateway/limits", "test/gateway/filters", "test/lib/keys"];
const files = [
  ...folders.flatMap((folder) =>
    readdirSync(`${root}${folder}`)
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => `${folder}/${name}`),
  ),
  ...["key-changes", "lost-keys"].map((name) => `test/gateway/${name}.test.ts`),
  ...["claim", "payments", "redis-away", "refused-payments", "refused-requests", "replicas"].map(
    (name) => `test/faucet/${name}.test.ts`,
  ),
].filter((file) => !/(?:api-key|rate-limit-headers)\.test\.ts$/.test(file));

/** Runs these suites with another server in the place of Redis (TOLLGATE_TEST_REDIS), each file a test of its own, two at a time. */
export async function runSuites(
  t: Test,
  variant: "valkey" | "cluster",
  path = process.env["PATH"],
): Promise<void> {
  // All six nodes killed at once is an outage that this file waits out for one server: see DECISIONS.md.
  const waiting = files.filter((file) => variant !== "cluster" || !file.endsWith("redis-away.test.ts"));
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const { code, output } = await runFile(file, { TOLLGATE_TEST_REDIS: variant, PATH: path });
      const failures = output.split("\n").filter((line) => /^\s*not ok /.test(line));
      t.equal(
        code,
        0,
        `${file}${failures.length === 0 ? "" : `: ${failures.map((line) => line.trim()).join("; ")}`}`,
      );
    }
  };
  await Promise.all([work(), work()]);
}

async function runFile(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", file], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}
