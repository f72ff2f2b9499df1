import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import t from "tap";
import { z } from "zod";
import { askNode } from "../../../scripts/network/chain/ask-node.ts";
import { type StandInFault, standInFaults } from "../../fakes/besu-stand-in/faults.ts";
import { placeStandIn } from "../../fakes/besu-stand-in/place-stand-in.ts";
import { coreKey, startGateway } from "../../helpers/gateway.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { makeNetwork } from "./rig.ts";

const main = fileURLToPath(new URL("../../../scripts/network/main.ts", import.meta.url));
const fileSchema = z.object({
  besuHome: z.object({
    use: z.string().optional(),
    on: z.record(z.string(), z.string()),
    next: z.object({ to: z.string(), underway: z.object({ name: z.string() }).optional() }).optional(),
  }),
});
const numbers = [1, 2, 3, 4, 5];

t.setTimeout(600_000);

t.test("Besu is brought to another version, one validator after the other", async (t) => {
  const made = await makeNetwork(t);
  const { folder, parent, configFile, env, network, statusWhen, pidOf, rpcUrl } = made;
  const place = (name: string, options: Parameters<typeof placeStandIn>[1]) =>
    placeStandIn(join(parent, name), options);
  const good = place("good", { version: "26.9.0" });
  const old = env.BESU_HOME;
  const quick = ["--watch-seconds", "2", "--sync-seconds", "60"];
  const upgrade = (to: string, ...more: string[]) => network("upgrade", "--besu", to, ...quick, ...more);
  const file = join(folder, "versions.json");
  const versionsFile = () => fileSchema.parse(JSON.parse(readFileSync(file, "utf8"))).besuHome;
  const versions = () =>
    Promise.all(
      numbers.map(async (number) => {
        const [answer] = (await askNode(rpcUrl(number), [{ method: "web3_clientVersion" }])) ?? [];
        return /v([\d.]+)/.exec(String(answer))?.[1];
      }),
    );
  const all = (version: string) => numbers.map(() => version);
  const allFine = () => statusWhen(({ verdict, present }) => verdict === "fine" && present === 5);

  await t.test("what cannot be meant is refused, and nothing is changed", async (t) => {
    t.match(await network("upgrade"), { code: 2, err: /Which version is missing/ });
    t.match(await upgrade(join(parent, "nowhere")), {
      code: 1,
      err: /is no unpacked Besu.*Nothing is changed/s,
    });
    t.match(await network("upgrade", "--image", "tollgate:0.2.0"), {
      code: 2,
      err: /--image is for containers/,
    });
    t.match(await upgrade(good, "--only", "9"), { code: 2, err: /there is no 9 to upgrade: validator-1,/ });
    t.match(await upgrade(good, "--only", "gateway"), { code: 2, err: /there is no gateway to upgrade/ });
    t.match(await network("upgrade", "--besu", good, "--watch-seconds", "1m"), {
      code: 2,
      err: /number of seconds/,
    });
    t.match(await upgrade(good), { code: 1, err: /Not now: validator-1, .* are down/ });
    const silent = placeStandIn(join(parent, "silent"));
    writeFileSync(join(silent, "bin", "besu"), "#!/bin/sh\nexit 1\n");
    t.match(await upgrade(silent), { code: 1, err: /does not say which version it is/ });
    t.notOk(existsSync(file));
  });

  t.equal((await network("up")).code, 0);
  await statusWhen(({ verdict, height }) => verdict === "fine" && (height ?? 0) >= 2);

  const redis = await startRedis(t);
  const gateway = await startGateway(t, { redisUrl: redis.url, upstreams: numbers.map(rpcUrl) });
  const client = keepCalling(gateway.url);
  t.teardown(() => client.stop());

  await t.test("a dry run says each step and changes nothing", async (t) => {
    const pids = numbers.map(pidOf);
    const { code, out } = await upgrade(good, "--dry-run");
    t.equal(code, 0);
    t.match(
      out,
      /^1\. validator-1: stopped, started with Besu 26\.9\.0 \(now 26\.8\.0\).*\n.*\n.*\n.*\n5\. validator-5: [^\n]*$/,
    );
    t.same(numbers.map(pidOf), pids);
    t.notOk(existsSync(file));
  });

  const found: Readonly<Record<Exclude<StandInFault, "runs no traces">, RegExp>> = {
    "does not start": /validator-1 has ended by itself|could not be started|has ended by itself/,
    "does not sync":
      /did not get the blocks of the others within 8 s: it is at block \d+, \d+ behind, with 0 peers/,
    "makes no blocks": /has neither proposed nor sealed any of the blocks \d+ to \d+/,
    "ends later": /has ended by itself/,
    "another chain": /answers for another chain/,
  };
  for (const fault of standInFaults) {
    // A validator that runs no traces does well: trace-node.test.ts has who has to run them.
    if (fault === "runs no traces") continue;
    await t.test(
      `a new version that ${fault}: one validator goes back, and no other is touched`,
      async (t) => {
        await allFine();
        const others = [2, 3, 4, 5].map(pidOf);
        const bad = place(fault.replaceAll(" ", "-"), { version: "26.9.0", fault, endsAfterMs: 9000 });
        const [watch, sync] = [fault === "ends later" ? "60" : "2", fault === "does not sync" ? "8" : "60"];
        const times = ["--watch-seconds", watch, "--sync-seconds", sync];
        const { code, err } = await network("upgrade", "--besu", bad, ...times);
        t.equal(code, 1);
        t.match(err, found[fault]);
        t.match(
          err,
          /It goes back\..*It runs what it ran before, at block \d+; no other node was touched after it\./s,
        );
        t.match(err, /validator-1 runs Besu 26\.8\.0\n.*validator-5 runs Besu 26\.8\.0/s);
        t.same([2, 3, 4, 5].map(pidOf), others);
        t.same(await versions(), all("26.8.0"));
        t.same(versionsFile().on, {});
      },
    );
  }

  await t.test("it is refused while another validator is down", async (t) => {
    await network("stop", "4");
    await statusWhen(({ present }) => present === 4);
    t.match(await upgrade(good), {
      code: 1,
      err: /Not now: validator-4 is down or behind already.*4 of 5 have to seal/s,
    });
    t.same(versionsFile().on, {});
    await network("start", "4");
    await allFine();
  });

  await t.test("one alone is tried first, and stays so over a restart", async (t) => {
    t.match(await upgrade(good, "--only", "3"), { code: 0, out: /^validator-3 runs 26\.9\.0/ });
    t.same(versionsFile().on, { "validator-3": good });
    await network("stop", "3");
    await network("start", "3");
    await allFine();
    t.same(await versions(), ["26.8.0", "26.8.0", "26.9.0", "26.8.0", "26.8.0"]);
  });

  await t.test("a command that is killed is gone on with where it was", async (t) => {
    const args = [
      "upgrade",
      "--besu",
      good,
      "--watch-seconds",
      "2",
      "--native",
      "--folder",
      folder,
      "--config",
      configFile,
    ];
    const child = spawn(process.execPath, [main, ...args], { env, stdio: "ignore" });
    const ended = once(child, "exit");
    await waitFor("the second one is under way", () => versionsFile().next?.underway?.name === "validator-2");
    child.kill("SIGKILL");
    await ended;
    const third = pidOf(3);
    const { code, out, err } = await upgrade(good);
    t.equal(code, 0, err);
    t.match(
      out,
      /^validator-2, validator-4, validator-5 run 26\.9\.0 .* validator-1, validator-3 did before/,
    );
    t.equal(pidOf(3), third, "what was done already is left alone");
    t.same(await versions(), all("26.9.0"));
    t.same(versionsFile(), { use: good, on: {} });
    t.match(await upgrade(good), { code: 0, out: /already; nothing was changed/ });
  });

  await t.test("an older version is refused unless it is asked for", async (t) => {
    t.match(await upgrade(old), {
      code: 1,
      err: /run Besu 26\.9\.0, which is newer than 26\.8\.0.*--allow-downgrade/s,
    });
    t.match(await upgrade(old, "--only", "5", "--allow-downgrade"), {
      code: 0,
      out: /^validator-5 runs 26\.8\.0/,
    });
    await allFine();
  });

  await t.test("a file of versions that cannot be read is named", async (t) => {
    const text = readFileSync(file, "utf8");
    writeFileSync(file, "{");
    t.match(await network("status"), { code: 1, err: /versions\.json cannot be read/ });
    writeFileSync(file, text);
  });

  const { calls, failed } = await client.stop();
  t.same(failed, [], "no call failed meanwhile");
  t.ok(calls > 500, `${calls} calls`);
});

/** A client that asks one thing after the other through the gateway. */
function keepCalling(url: string) {
  const failed: string[] = [];
  let calls = 0;
  let isStopped = false;
  async function run(): Promise<void> {
    const asked = [
      ["eth_blockNumber", []],
      ["eth_getBlockByNumber", ["latest", false]],
      ["eth_getBalance", [`0x${"11".repeat(20)}`, "latest"]],
    ] as const;
    while (!isStopped) {
      const [method, params] = asked[calls % asked.length] ?? asked[0];
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-API-Key": coreKey },
        body: JSON.stringify({ jsonrpc: "2.0", id: calls, method, params }),
      });
      const text = await response.text();
      if (!text.includes('"result"')) failed.push(`${response.status} ${text}`);
      calls += 1;
      await sleep(50);
    }
  }
  const ended = run().catch((error: Error) => failed.push(error.message));
  return {
    async stop() {
      isStopped = true;
      await ended;
      return { calls, failed };
    },
  };
}
