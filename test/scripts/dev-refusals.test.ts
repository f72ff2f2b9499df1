import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import t from "tap";
import { startRedis } from "../helpers/redis.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { freePorts, startDev, startedDev } from "./dev-rig.ts";

t.jobs = 3;

t.test("a taken port is named with the process that holds it, before anything starts", async (t) => {
  for (const [name, key] of [
    ["gateway", "`port`"],
    ["ops", "`ops.port`"],
    ["chain", "--chain-port"],
    ["wallet", "--wallet-port"],
  ] as const) {
    for (const host of ["127.0.0.1", "0.0.0.0", "::"]) {
      const ports = await freePorts();
      const holder = createServer().listen(ports[name], host);
      await once(holder, "listening");
      const folder = testFolder(t, { [`${name}-${host.length}`]: {} });
      const dev = await startDev(t, { folder, ports });
      t.same(await dev.ended, { code: 1, signal: null }, `${name} on ${host}`);
      t.match(dev.printed(), `port ${ports[name]} `);
      t.match(dev.printed(), `is taken by process ${process.pid} (${process.execPath}`);
      t.match(dev.printed(), new RegExp(`stop it \\(kill ${process.pid}\\), or set .*${key}`));
      t.notMatch(dev.printed(), "│", "no child has said anything");
      t.same(await readdir(join(folder, ".data/redis")), []);
      holder.close();
    }
  }
});

t.test("a port that two of its own servers want is named with both", async (t) => {
  const ports = await freePorts();
  const { gateway } = ports;
  const dev = await startDev(t, { folder: testFolder(t), ports: { ...ports, chain: gateway } });
  t.same(await dev.ended, { code: 1, signal: null });
  t.match(
    dev.printed(),
    `port ${gateway} is wanted by the internal RPC and by the gateway: set \`port\` in `,
  );
});

t.test("two at once in one folder: the second names the first, with --reset as well", async (t) => {
  const folder = testFolder(t);
  const first = await startedDev(t, { folder });
  for (const args of [[], ["--reset"]]) {
    const second = await startDev(t, { folder, args });
    t.same(await second.ended, { code: 1, signal: null });
    t.match(second.printed(), `npm start is running already`);
    t.match(second.printed(), `kill ${first.pid}`);
  }
  t.match(await first.gateway("eth_blockNumber"), /^0x/, "the first goes on");
});

t.test("what it was told and cannot use", async (t) => {
  const cases: [string, string[], RegExp][] = [
    [
      "an unknown option",
      ["--rest"],
      /There is no option --rest. Did you mean --reset[\s\S]*Usage: npm start/,
    ],
    ["a word that is no option", ["reset"], /"reset" is one word too many[\s\S]*Usage/],
    ["a port that is none", ["--chain-port", "70000"], /--chain-port: a port, 1 to 65535, was expected/],
    ["a port of no number", ["--wallet-port", "8541a"], /--wallet-port: a port, 1 to 65535, was expected/],
    [
      "a configuration that is not there",
      ["--config", "missing.yaml"],
      /missing\.yaml: cannot be read \(ENOENT\)/,
    ],
    [
      "a configuration with a mistake",
      ["--config", "wrong.yaml"],
      /wrong\.yaml:2: prot: this key is unknown/,
    ],
    [
      "a configuration with a Redis of its own",
      ["--config", "own.yaml"],
      /names a Redis or validators of its own/,
    ],
  ];
  const folder = testFolder(t, {
    "wrong.yaml": "upstreams: ${UPSTREAMS}\nprot: 1\n",
    "own.yaml": "upstreams: ${UPSTREAMS}\nredis: redis://127.0.0.1:6379\n",
  });
  for (const [title, args, expected] of cases) {
    const dev = await startDev(t, { folder, args });
    t.same(await dev.ended, { code: 2, signal: null }, title);
    t.match(dev.printed(), expected);
  }
  t.same((await readdir(folder)).sort(), ["own.yaml", "wrong.yaml"], "nothing was begun");
  const helped = await startDev(t, { folder, args: ["--help"] });
  t.same(await helped.ended, { code: 0, signal: null });
  t.match(helped.printed(), "Usage: npm start");
});

t.test("without any Redis, and no way to install one, it says what to type", async (t) => {
  const dev = await startDev(t, { folder: testFolder(t), env: { PATH: "" } });
  t.same(await dev.ended, { code: 1, signal: null });
  t.match(dev.printed(), "There is no redis-server or valkey-server on PATH.");
  t.match(dev.printed(), "\n  Debian, Ubuntu   sudo sh scripts/processes/install-redis.sh\n");
  t.match(dev.printed(), "\n  macOS            brew install redis\n");
});

t.test("REDIS_URL: that Redis is used, said, and left as it is", async (t) => {
  const redis = await startRedis(t);
  const folder = testFolder(t);
  const dev = await startedDev(t, { folder, env: { REDIS_URL: redis.url }, args: ["--reset"] });
  t.match(dev.printed(), "--reset leaves the Redis of REDIS_URL as it is.");
  t.match(dev.printed(), `REDIS_URL is set: ${redis.url} is used, and no Redis is started.`);
  t.same(Object.keys(await dev.children()).sort(), ["api", "chain", "faucet", "gateway"]);
  t.match(await dev.gateway("eth_blockNumber"), /^0x/);
  dev.signal("SIGINT");
  t.same(await dev.ended, { code: 0, signal: null });

  t.test("its password is not printed", async (t) => {
    const url = new URL(redis.url);
    url.password = "secret-of-the-test";
    const again = await startedDev(t, { folder, env: { REDIS_URL: url.href, UPSTREAMS: "http://x" } });
    again.signal("SIGINT");
    await again.ended;
    t.match(again.printed(), "UPSTREAMS is not used");
    t.match(again.printed(), `REDIS_URL is set: redis://:***@127.0.0.1:${redis.port} is used`);
    t.notMatch(again.printed(), "secret-of-the-test");
  });

  t.test("one that does not answer ends it", async (t) => {
    await redis.kill();
    const refused = await startDev(t, { folder, env: { REDIS_URL: redis.url } });
    t.same(await refused.ended, { code: 1, signal: null });
    t.match(refused.printed(), `REDIS_URL names ${redis.url}, which does not answer`);
  });
});
