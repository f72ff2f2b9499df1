import { readFileSync, writeFileSync } from "node:fs";
import t, { type Test } from "tap";
import { startStubValidator } from "../../fakes/stub-validator.ts";
import { coreKey } from "../../helpers/gateway.ts";
import { runGateway, whenServing, writeConfig } from "../../helpers/gateway-process.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";

async function startProcess(t: Test) {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const file = writeConfig(t, { redisUrl: redis.url, upstream: validator.url });
  const gateway = runGateway(t, ["--config", file]);
  const { port, opsPort } = await whenServing(gateway);
  const ops = `http://127.0.0.1:${opsPort}`;
  const written = readFileSync(file, "utf8");
  return {
    gateway,
    file,
    ops,
    write: (more: string) => writeFileSync(file, written + more),
    command: (...args: string[]) => runGateway(t, ["reload", "--ops", ops, ...args]).ended,
    async batchOfTwo(): Promise<number> {
      const body = JSON.stringify([1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "net_version" })));
      const headers = { "X-API-Key": coreKey, "Content-Type": "application/json" };
      return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body })).status;
    },
    linesWith: (text: string) =>
      gateway
        .output()
        .split("\n")
        .filter((line) => line.includes(text)),
  };
}

t.test("npm run gateway -- reload", async (t) => {
  const { file, write, command, batchOfTwo } = await startProcess(t);
  /** As often as it may be asked. */
  const inTurn = (...args: string[]) =>
    waitFor("its turn has come", async () => {
      const ended = await command(...args);
      return ended.output.includes("has just been asked") ? undefined : ended;
    });

  t.test("--dry-run says where nothing differs", async (t) => {
    t.match(await inTurn("--dry-run"), { code: 0, output: /^Nothing differs\.\n$/ });
  });

  t.test("--dry-run prints the difference and changes nothing", async (t) => {
    write("limits: { batchItemsMax: 1 }\nlog: { level: debug }\n");
    const { code, output } = await inTurn("--dry-run");
    t.equal(code, 0, output);
    t.match(output, "A reload would change:");
    t.match(output, "limits.batchItemsMax: 100 → 1");
    t.match(output, 'log.level: "info" → "debug"');
    t.equal(await batchOfTwo(), 200);
  });

  t.test("changes what the file says and prints it", async (t) => {
    const { code, output } = await inTurn();
    t.equal(code, 0, output);
    t.match(output, /^Changed:\n {2}log.level/);
    t.equal(await batchOfTwo(), 400);
  });

  t.test("exit code 2 for a file that is refused: by line and name, and the old values go on", async (t) => {
    const refused = [
      ["limits: { batchItemsMax: 0 }\n", `${file}:14: limits.batchItemsMax: `],
      ["limits: [\n", `${file}:1`],
      ["host: 0.0.0.0\nlimits: { batchItemsMax: 100 }\n", "host cannot change without a restart"],
    ] as const;
    for (const [text, problem] of refused) {
      write(text);
      const { code, output } = await inTurn();
      t.equal(code, 2, output);
      t.match(output, problem);
      t.match(output, "goes on with its old configuration");
      t.notMatch(output, /\n {4}at /, "no stack");
      t.equal(await batchOfTwo(), 400);
    }
  });

  t.test("exit code 1 where nobody answers, 2 for a command line that is wrong", async (t) => {
    const nobody = await runGateway(t, ["reload", "--ops", "http://127.0.0.1:1"]).ended;
    t.equal(nobody.code, 1);
    t.match(nobody.output, /no gateway answers at http:\/\/127\.0\.0\.1:1/);
    const wrong = await runGateway(t, ["reload", "--port", "1"]).ended;
    t.equal(wrong.code, 2);
    t.match(wrong.output, /Usage: npm run gateway -- reload/);
  });
});

t.test("SIGHUP does the same, and many in a row are one or two", async (t) => {
  const { gateway, write, batchOfTwo, linesWith } = await startProcess(t);
  write("limits: { batchItemsMax: 1 }\n");
  for (let index = 0; index < 50; index += 1) gateway.kill("SIGHUP");
  await waitFor("it is reloaded", () => linesWith("configuration reloaded").length > 0);
  t.equal(await batchOfTwo(), 400);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  t.ok(linesWith("configuration reloaded").length <= 2, "fifty signals");

  write("port: [\n");
  gateway.kill("SIGHUP");
  await waitFor("it is refused", () => linesWith("configuration refused").length > 0);
  t.equal(await batchOfTwo(), 400, "and it goes on");
  gateway.kill("SIGTERM");
  t.equal((await gateway.ended).code, 0);
});
