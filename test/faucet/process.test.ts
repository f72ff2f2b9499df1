import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { startAnvil } from "../helpers/anvil.ts";
import { runNodeProcess } from "../helpers/node-process.ts";
import { startRedis } from "../helpers/redis.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { randomAddress } from "./support/outside-wallet.ts";
import { allowlistText, postClaim } from "./support/start-faucet.ts";

const runFaucetProcess = (t: Test, args: readonly string[], env?: Readonly<Record<string, string>>) =>
  runNodeProcess(t, "faucet/main.ts", { args, ...(env === undefined ? {} : { env }) });

t.test("--check tells what is in order, and what cannot be used, with exit code 2", async (t) => {
  const checked = await runFaucetProcess(t, ["--check"]).ended;
  t.match(checked, { code: 0, output: "config/faucet.yaml is in order: development profile, port 4001" });
  const production = await runFaucetProcess(t, ["--check", "--profile", "production"]).ended;
  t.match(production, {
    code: 2,
    output: /faucet\.yaml:\d+: wallet\.developmentKey: the production profile/,
  });
  t.match(await runFaucetProcess(t, ["--nonsense"]).ended, {
    code: 2,
    output: /Usage: npm run faucet:serve/,
  });
});

t.test("the process serves, keeps its secrets out of its log, and ends in order at SIGTERM", async (t) => {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const address = randomAddress();
  const folder = testFolder(t, { "allowlist.yaml": allowlistText([{ address }]) });
  const config = join(folder, "faucet.yaml");
  const developmentKey = `0x${"7".repeat(64)}`;
  await writeFile(
    config,
    JSON.stringify({
      port: 0,
      private: { port: 0 },
      ops: { port: 0 },
      redis: redis.url,
      upstream: anvil.url,
      allowlistFile: "allowlist.yaml",
      wallet: { developmentKey },
      upstreamApiKey: "a-secret-service-key",
    }),
  );
  const faucet = runFaucetProcess(t, ["--config", config]);
  await waitFor("up", () => faucet.output().includes('"faucet is up"'), { withinMs: 60_000 });
  const line = faucet
    .output()
    .split("\n")
    .find((text) => text.includes('"faucet is up"'));
  const { port, wallet }: { port: number; wallet: string } = JSON.parse(line ?? "{}");
  await anvil.rpc("anvil_setBalance", [wallet, "0xde0b6b3a7640000000"]);
  const url = `http://127.0.0.1:${port}`;
  await waitFor("taken", async () => (await postClaim(url, { address })).status === 202);
  await waitFor("paid", async () => (await anvil.rpc("eth_getBalance", [address, "latest"])) !== "0x0");
  faucet.kill("SIGTERM");
  const { code, output } = await faucet.ended;
  t.equal(code, 0);
  t.match(output, /"msg":"stopped"/);
  t.notMatch(output, /7{64}|a-secret-service-key/);
});

t.test("a port that is taken ends the process with the reason", async (t) => {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const folder = testFolder(t, { "allowlist.yaml": allowlistText([]) });
  const config = join(folder, "faucet.yaml");
  const developmentKey = `0x${"7".repeat(64)}`;
  await writeFile(
    config,
    JSON.stringify({
      port: Number(new URL(redis.url).port),
      private: { port: 0 },
      ops: { port: 0 },
      redis: redis.url,
      upstream: anvil.url,
      allowlistFile: "allowlist.yaml",
      wallet: { developmentKey },
    }),
  );
  const taken = new URL(redis.url).port;
  const ended = await runFaucetProcess(t, ["--config", config]).ended;
  t.match(ended, { code: 1, output: new RegExp(`127\\.0\\.0\\.1:${taken} cannot be listened on`) });
});
