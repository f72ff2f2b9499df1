import { join } from "node:path";
import t from "tap";
import { z } from "zod";
import { startAnvil } from "../helpers/anvil.ts";
import { coreKey } from "../helpers/gateway.ts";
import { runGateway, whenServing, writeConfig } from "../helpers/gateway-process.ts";
import { startRedis } from "../helpers/redis.ts";
import { runCommand } from "../helpers/run-command.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { previousVersion } from "./previous-version.ts";

const root = join(import.meta.dirname, "../..");
const createdSchema = z.object({ secret: z.string(), key: z.object({ id: z.string() }) });
const answerSchema = z.object({ result: z.unknown() });

t.setTimeout(120_000);

t.test("a gateway of the version before and one of this over one Redis and one chain", async (t) => {
  const before = await previousVersion(t);
  if (before === undefined) return;
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const config = writeConfig(t, { redisUrl: redis.url, upstream: anvil.url });
  const startOf = async (folder: string) => {
    const gateway = runGateway(t, ["--config", config], { folder });
    const { port } = await whenServing(gateway);
    const post = async (method: string, params: unknown[] = [], key = coreKey) => {
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-API-Key": key },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      return { status: response.status, json: await response.json() };
    };
    const result = async (method: string, params: unknown[] = []) =>
      answerSchema.parse((await post(method, params)).json).result;
    return { gateway, post, result };
  };
  const keys = async (folder: string, ...args: string[]) => {
    const { code, lines } = await runCommand(t, {
      program: process.execPath,
      args: [join(folder, "scripts/keys/main.ts"), ...args, "--redis", redis.url, "--config", config],
    });
    if (code !== 0) throw new Error(lines.join("\n"));
    return lines.join("\n");
  };
  const keyOf = async (folder: string, team: string, ...more: string[]) => {
    const text = await keys(folder, "create", "--team", team, ...more, "--json");
    return createdSchema.parse(JSON.parse(text.slice(text.indexOf("{"))));
  };

  const old = await startOf(before.folder);
  const now = await startOf(root);

  await t.test("a key that one version made is good at both, and revoked at both", async (t) => {
    for (const [maker, other, revoker] of [
      [before.folder, now, root],
      [root, old, before.folder],
    ] as const) {
      const team = maker === root ? "made-by-this" : "made-by-before";
      await keys(maker, "team", "set", team);
      const { secret, key } = await keyOf(maker, team);
      t.match(await other.post("eth_chainId", [], secret), { status: 200 }, team);
      await keys(revoker, "revoke", key.id);
      for (const gateway of [old, now]) {
        await waitFor(
          "the key is refused",
          async () => (await gateway.post("eth_chainId", [], secret)).status === 401,
        );
      }
    }
  });

  await t.test("a limit is exact over both", async (t) => {
    await keys(root, "team", "set", "limited");
    const { secret } = await keyOf(before.folder, "limited", "--limit", "60");
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        (index % 2 === 0 ? old : now).post("eth_chainId", [], secret),
      ),
    );
    const counted = (status: number) => answers.filter((answer) => answer.status === status).length;
    t.same({ taken: counted(200), refused: counted(429) }, { taken: 60, refused: 140 });
  });

  await t.test("a filter that one version made is read through the other, each block once", async (t) => {
    for (const [maker, other] of [
      [old, now],
      [now, old],
    ] as const) {
      const id = await maker.result("eth_newBlockFilter");
      const seen: unknown[] = [];
      const made: unknown[] = [];
      for (let round = 0; round < 6; round += 1) {
        await anvil.rpc("anvil_mine", ["0x1"]);
        const { hash } = z
          .object({ hash: z.string() })
          .parse(await anvil.rpc("eth_getBlockByNumber", ["latest", false]));
        made.push(hash);
        const reader = round % 2 === 0 ? other : maker;
        await waitFor("the block is told", async () => {
          const news = z.array(z.string()).parse(await reader.result("eth_getFilterChanges", [id]));
          seen.push(...news);
          return seen.includes(hash);
        });
      }
      t.same(seen, made);
      t.equal(await other.result("eth_uninstallFilter", [id]), true);
      t.match((await maker.post("eth_getFilterChanges", [id])).json, { error: {} });
    }
  });

  await t.test(
    "the old one goes while calls come, and starts again beside what this version has written",
    async (t) => {
      old.gateway.kill("SIGTERM");
      t.match(await now.post("eth_blockNumber"), { status: 200 });
      t.equal((await old.gateway.ended).code, 0);
      const again = await startOf(before.folder);
      t.match(await again.post("eth_blockNumber"), { status: 200 });
    },
  );
});
