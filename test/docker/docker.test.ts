import { kill } from "node:process";
import t from "tap";
import { z } from "zod";
import { runDocker } from "../../scripts/network/docker/run-docker.ts";
import { coreKey, qaKey } from "../helpers/gateway.ts";
import { buildImages } from "./build-images.ts";
import { makeNetwork, testProject } from "./rig.ts";
import { startDocker } from "./start-docker.ts";

/** The first run also makes the images. */
t.setTimeout(600_000);

const five = [1, 2, 3, 4, 5].map((number) => `validator-${number}`);
const services = [...five, "redis", "redis-faucet", "postgres", "gateway", "faucet", "api"];
const presentSchema = z.object({
  data: z.object({ result: z.array(z.object({ value: z.array(z.unknown()) })) }),
});
const healthSchema = z.object({ status: z.string() });
const eventSchema = z.object({
  Action: z.string(),
  timeNano: z.number(),
  Actor: z.object({ Attributes: z.record(z.string(), z.string()) }),
});

t.test("the network in containers", async (t) => {
  const docker = await startDocker(t);
  if ("missing" in docker) {
    t.plan(0, docker.missing);
    return;
  }
  const { env } = docker;
  await buildImages(docker);
  const made = await makeNetwork(t, env, { subnet: 94 });
  const { network, status, containers, container, inside, compose, ports, secret, until } = made;

  const askApi = async (path: string): Promise<unknown> =>
    (await fetch(`http://127.0.0.1:${ports.api}${path}`)).json();
  const ask = async (key?: string, method = "eth_blockNumber") => {
    const response = await fetch(`http://127.0.0.1:${ports.gateway}/`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(key === undefined ? {} : { "X-API-Key": key }) },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] }),
    });
    return { status: response.status, json: await response.json() };
  };

  await t.test(
    "up starts the validators, waits for a block, and brings up what belongs to them",
    async (t) => {
      const { code, out, err } = await network("up");
      // The stand-in runs no contracts.
      t.match(
        { code, err },
        { code: 0, err: /^No fees are taken: This chain has no deployment factory [^\n]*$/ },
      );
      t.match(out, /The network is up: block \d+ after \d+ s\..*validator-5 +up/s);
      for (const [service, { State }] of await containers()) {
        if (service === "volumes") t.equal(State.Status, "exited");
        else if (!five.includes(service)) t.equal(State.Health?.Status, "healthy", service);
      }
      t.same([...(await containers()).keys()].sort(), [...services, "volumes"].sort());
      t.match(await network("up"), { code: 0, out: /All validators run already; nothing was changed/ });
    },
  );

  await t.test("the gateway answers on loopback, and only with a key", async (t) => {
    t.equal((await ask()).status, 401);
    t.match(await ask(coreKey), { status: 200, json: { result: /^0x[0-9a-f]+$/ } });
    t.match(await ask(qaKey, "eth_chainId"), { status: 200, json: { result: "0x228d" } });
    const page = await fetch(`http://127.0.0.1:${ports.faucet}/`);
    t.equal(page.status, 200);
  });

  await t.test(
    "the api has the chain, by the gateway's key that was made for it, and its index",
    async (t) => {
      await until(
        () => askApi("/health"),
        (answer) => healthSchema.parse(answer).status === "ok",
      );
      t.match(await askApi("/api/v1/chain"), { chainId: 8845, consensus: "ibft2", validatorCount: 5 });
      t.match((await inside("api", "ls", "-l", "/keys")).out.join("\n"), /-rw------- .* api$/m);
      t.notOk((await inside("api", "touch", "/keys/x")).ok);
      const keys = (await inside("gateway", "node", "scripts/keys/main.ts", "list")).out.join("\n");
      t.match(keys, /k_\w+ +api /);
      const told = await inside("api", "node", "scripts/api/main.ts", "status");
      t.match(told.out.join("\n"), /complete up to block \d+/);
      const page = await fetch(`http://127.0.0.1:${ports.gateway}/explorer/network`, {
        headers: { "X-API-Key": qaKey },
      });
      t.equal(page.status, 200, "its pages, behind the gateway");
      t.match(await page.text(), `http://127.0.0.1:${ports.faucet}`);
    },
  );

  await t.test("nothing else is published, nobody is root, and all are bounded", async (t) => {
    for (const [service, { HostConfig, Config }] of await containers()) {
      const published = Object.values(HostConfig.PortBindings ?? {}).flat();
      const expected = ["gateway", "faucet", "api"].includes(service) ? [{ HostIp: "127.0.0.1" }] : [];
      t.same(
        published,
        expected.map((binding) => ({ ...binding })),
        service,
      );
      t.match(
        HostConfig,
        { ReadonlyRootfs: true, CapDrop: ["ALL"], SecurityOpt: ["no-new-privileges:true"] },
        service,
      );
      t.ok(Number(HostConfig["Memory"]) > 0 && Number(HostConfig["NanoCpus"]) > 0, service);
      if (service !== "volumes") t.notMatch(Config.User, /^(0|root|)(:|$)/, service);
    }
    t.same((await inside("gateway", "id", "-u")).out, ["1000"]);
  });

  await t.test("no secret stands in an environment or on a command line", async (t) => {
    const users = ["gateway", "api", "keys", "backup", "faucet", "faucet-backup"].map(
      (user) => `redis-user-${user}`,
    );
    const secrets = ["redis-url", "redis-faucet-url", "postgres-url", ...users].map(
      (name) => /:([^:@]+)@/.exec(secret(name))?.[1] ?? "none",
    );
    for (const [service, { Config, Args }] of await containers()) {
      for (const password of secrets)
        t.notOk([...(Config.Env ?? []), ...Args].join(" ").includes(password), service);
    }
    for (const service of ["redis", "redis-faucet"]) {
      t.match((await inside(service, "redis-cli", "GET", "x")).out, [/NOAUTH/], service);
      const lines = (await inside(service, "sh", "-c", "cat /proc/*/cmdline | tr '\\0' ' '")).out.join("");
      t.match(lines, /redis-server/);
      for (const password of secrets) t.notOk(lines.includes(password), service);
    }
  });

  await t.test(
    "the faucet's Redis writes each change to its disk at once, the other one each second",
    async (t) => {
      const settings = async (service: string) => {
        const password = "REDISCLI_AUTH=$(sed 's/.*:\\(.*\\)@.*/\\1/' /run/secrets/redis-url)";
        const script = `${password} redis-cli CONFIG GET appendonly appendfsync maxmemory-policy`;
        const words = (await inside(service, "sh", "-c", script)).out.map((line) => line.trim());
        return Object.fromEntries(words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1]]] : [])));
      };
      const common = { appendonly: "yes", "maxmemory-policy": "noeviction" };
      t.same(await settings("redis"), { ...common, appendfsync: "everysec" });
      t.same(await settings("redis-faucet"), { ...common, appendfsync: "always" });
    },
  );

  await t.test("validators are reached by the gateway alone, as is the faucet's private port", async (t) => {
    const connects = async (from: string, host: string, port: number) => {
      const script = `require("net").connect(${port}, "${host}").on("connect", () => process.exit(0)).on("error", () => process.exit(1)).setTimeout(1500, () => process.exit(1))`;
      return (await inside(from, "node", "--eval", script)).ok;
    };
    t.ok(await connects("gateway", "172.28.94.11", 8545));
    t.notOk(await connects("faucet", "172.28.94.11", 8545));
    t.notOk(await connects("api", "172.28.94.11", 8545));
    t.notOk(await connects("api", "172.28.96.6", 4002));
    t.ok(await connects("gateway", "172.28.96.6", 4002));
    const fromRedis = (host: string, port: number) =>
      inside("redis", "timeout", "2", "bash", "-c", `exec 3<>/dev/tcp/${host}/${port}`);
    t.ok((await fromRedis("gateway", 9540)).ok, "they share a network");
    t.notOk((await fromRedis("172.28.96.6", 4002)).ok);
    t.notOk((await fromRedis("172.28.94.11", 8545)).ok);
    const outside = await inside(
      "validator-1",
      "timeout",
      "2",
      "bash",
      "-c",
      "exec 3<>/dev/tcp/172.28.95.1/22",
    );
    t.notOk(outside.ok, "a validator has no way out of its network");
  });

  await t.test("a validator that is killed comes back", async (t) => {
    const { State, RestartCount } = await container("validator-4");
    kill(State.Pid, "SIGKILL");
    const after = await until(
      () => container("validator-4"),
      ({ State: now }) => now.Status === "running" && now.Pid !== State.Pid && now.Pid !== 0,
    );
    t.equal(after.RestartCount, RestartCount + 1);
    await until(status, ({ verdict }) => verdict === "fine");
  });

  await t.test("one stopped: the edge of quorum. Two: stalled, until recover", async (t) => {
    t.match(await network("stop", "5"), { code: 0, out: "validator-5 is stopped." });
    t.equal((await until(status, ({ verdict }) => verdict === "edge of quorum")).code, 2);
    t.match(await network("stop", "3"), { code: 0, err: /3 of 5 run, 4 are needed/ });
    const stalled = await status();
    t.match(stalled, { code: 1, verdict: "stalled" });
    t.match(await ask(coreKey), { status: 200 }, "reads go on");
    t.match(await network("recover"), { code: 0, out: /The chain goes on: block \d+ after \d+ s/ });
    t.ok(((await status()).height ?? 0) > (stalled.height ?? 0));
  });

  await t.test("a wiped disk is filled again from the others", async (t) => {
    t.match(await network("wipe", "2"), {
      code: 0,
      out: /chain of validator-2 is removed; it runs again and fetches \d+ blocks/,
    });
    const now = await until(status, ({ validators }) => validators[1]?.lag === 0);
    t.match(now.validators[1], { state: "up" });
    t.match(await network("logs", "2", "--lines", "1"), { code: 0, out: /^validator-2 │ .*INFO/ });
  });

  await t.test("Prometheus finds all that it is told to look at, and no rule of ours fails", async (t) => {
    const names = ["prometheus", "node-exporter", "network-exporter"];
    const profile = ["--profile", "observability"];
    const up = await compose.run([...profile, "up", "--detach", "--wait", "--no-deps", ...names]);
    t.ok(up.ok, up.ok ? "" : up.why);
    const page = async (path: string): Promise<unknown> => {
      const command = ["exec", "-T", "prometheus", "wget", "-qO-", `http://127.0.0.1:9090/api/v1/${path}`];
      return JSON.parse((await compose.mustRun([...profile, ...command])).join("\n"));
    };
    const targetsSchema = z.object({
      data: z.object({ activeTargets: z.array(z.object({ scrapeUrl: z.string(), health: z.string() })) }),
    });
    const targets = await until(
      async () => targetsSchema.parse(await page("targets")).data.activeTargets,
      // At first it knows of none.
      (all) => all.length > 0 && all.every(({ health }) => health === "up"),
    );
    t.equal(targets.length, 11);
    const rulesSchema = z.object({
      data: z.object({
        groups: z.array(z.object({ rules: z.array(z.object({ name: z.string(), health: z.string() })) })),
      }),
    });
    const rules = await until(
      async () => rulesSchema.parse(await page("rules")).data.groups.flatMap((group) => group.rules),
      (all) => all.every(({ health }) => health !== "unknown"),
    );
    t.ok(rules.length > 10);
    for (const { name, health } of rules) t.equal(health, "ok", name);
    // What is scraped can be asked for a moment later.
    const present = await until(
      async () =>
        presentSchema.parse(await page("query?query=tollgate_network_validators_present")).data.result,
      (result) => result.length > 0,
    );
    t.match(present, [{ value: [Number, "5"] }]);
  });

  await t.test("down keeps the chain, and compose itself starts in order of health", async (t) => {
    const { height } = await status();
    t.match(await network("down"), { code: 0, out: /^Stopped: validator-1, .*validator-5\.$/ });
    t.same(await compose.mustRun(["ps", "--all", "--quiet"]), []);
    t.match(await network("status"), { code: 1, out: /STALLED.*validator-1 +stopped/s });
    // As it happens: of what is past the daemon keeps 256 events, and health checks make most of them.
    const happened: z.output<typeof eventSchema>[] = [];
    const watching = new AbortController();
    const watched = runDocker({
      args: [
        ...["events", "--since", String(Date.now() / 1000), "--format", "{{json .}}"],
        ...["--filter", "type=container", "--filter", `label=com.docker.compose.project=${testProject()}`],
      ],
      env: made.env,
      signal: watching.signal,
      onLine: (line) => happened.push(eventSchema.parse(JSON.parse(line))),
    });
    const up = await compose.run(["up", "--detach", "--wait"]);
    t.ok(up.ok, up.ok ? "" : up.why);
    watching.abort();
    await watched;
    const first = (action: string, service: string) =>
      happened.find(
        (event) =>
          event.Action === action && event.Actor.Attributes["com.docker.compose.service"] === service,
      )?.timeNano ?? Number.NaN;
    for (const service of ["gateway", "postgres"]) {
      t.ok(first("health_status: healthy", service) < first("start", "api"), `${service} before the api`);
    }
    t.ok(first("die", "api-key") < first("start", "api"), "the api's key before the api");
    for (const service of [...five, "redis", "redis-faucet", "postgres"]) {
      t.ok(
        first("die", "volumes") < first("start", service),
        `the volumes were ready before ${service} started`,
      );
    }
    for (const service of [...five, "redis"]) {
      t.ok(
        first("health_status: healthy", service) < first("start", "gateway"),
        `${service} before the gateway`,
      );
    }
    for (const service of ["gateway", "redis-faucet"]) {
      t.ok(
        first("health_status: healthy", service) < first("start", "faucet"),
        `${service} before the faucet`,
      );
    }
    t.ok(((await status()).height ?? 0) > (height ?? 0), "the chain goes on where it was");
    t.match(await ask(coreKey), { status: 200 });
  });
});
