import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { parse } from "yaml";
import { z } from "zod";
import { readApiConfig } from "../../api/config.ts";
import { readFaucetConfig } from "../../faucet/config.ts";
import { readGatewayConfig } from "../../gateway/config.ts";
import { readNetworkConfig } from "../../genesis/config.ts";
import { planNetwork } from "../../genesis/network-files.ts";
import { containerPaths } from "../../genesis/node-config.ts";
import { createNodeKey } from "../../genesis/node-key.ts";
import { readBackupConfig } from "../../scripts/backup/config.ts";
import { createCompose } from "../../scripts/network/docker/compose.ts";
import { qaKey } from "../helpers/gateway.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { composeEnvironment, findPrepared, mustRun } from "./start-docker.ts";

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const mounted = z
  .array(z.looseObject({ type: z.string().default(""), source: z.string(), target: z.string() }))
  .default([]);
const serviceSchema = z.looseObject({
  image: z.string(),
  user: z.string(),
  environment: z.record(z.string(), z.string().nullable()).default({}),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  networks: z.record(z.string(), z.object({ ipv4_address: z.string().optional() }).nullable()).default({}),
  ports: z.array(z.object({ host_ip: z.string(), target: z.int() })).default([]),
  volumes: mounted,
  configs: mounted,
  healthcheck: z.object({ disable: z.boolean().optional(), test: z.array(z.string()).optional() }),
});
const fileSchema = z.object({
  services: z.record(z.string(), serviceSchema),
  networks: z.record(z.string(), z.object({ internal: z.boolean().optional() })),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
  configs: z.record(z.string(), z.object({ file: z.string() })),
});

const five = [1, 2, 3, 4, 5].map((number) => `validator-${number}`);
const withoutProfile = [
  ...five,
  ...["api", "api-key", "faucet", "gateway", "postgres", "redis", "redis-faucet", "volumes"],
];
/** They do their work and end. */
const once = ["api-key", "volumes"];
const observability = ["grafana", "network-exporter", "node-exporter", "prometheus"];

t.test("docker compose config, for every profile", async (t) => {
  const prepared = await findPrepared();
  if ("missing" in prepared) {
    if (mustRun) throw new Error(prepared.missing);
    t.plan(0, prepared.missing);
    return;
  }
  const folder = join(testFolder(t, {}), "network");
  const config = readNetworkConfig({ file: path("config/network.yaml"), env: {} });
  const { files, manifest } = planNetwork({ config, createKey: createNodeKey });
  for (const { path: file, content } of files) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), content);
  }
  const environment = await composeEnvironment(t, prepared);
  const read = async (profile: string, more: Readonly<Record<string, string>> = {}) => {
    const env = { ...environment, ...more, COMPOSE_PROFILES: profile };
    const compose = createCompose({ folder, owner: { uid: 1234, gid: 1235 }, env });
    return fileSchema.parse(JSON.parse((await compose.mustRun(["config", "--format", "json"])).join("\n")));
  };
  const { services, networks } = await read("observability");
  const all = Object.entries(services);

  await t.test("services are there by profile", async (t) => {
    t.same(Object.keys((await read("")).services).sort(), withoutProfile.toSorted());
    t.same(Object.keys(services).sort(), [...withoutProfile, ...observability].sort());
    const { services: kept } = await read("backup");
    t.same(Object.keys(kept).sort(), [...withoutProfile, "backup", "postgres-backup"].sort());
    const { services: traced } = await read("trace");
    t.same(Object.keys(traced).sort(), [...withoutProfile, "trace-node"].sort());
    t.match(traced["trace-node"]?.networks["validators"], { ipv4_address: "172.28.84.16" });
  });

  await t.test("each has its bounds, a health check, and no more rights than it needs", async (t) => {
    for (const [name, service] of all) {
      const isOnce = once.includes(name);
      t.match(
        service,
        {
          user: name === "volumes" ? "0:0" : "1234:1235",
          read_only: true,
          init: true,
          cap_drop: ["ALL"],
          security_opt: ["no-new-privileges:true"],
          restart: isOnce ? "no" : "unless-stopped",
          logging: { driver: "json-file", options: { "max-size": "20m", "max-file": "5" } },
        },
        name,
      );
      t.match(service["ulimits"], { nofile: { soft: 65_536, hard: 65_536 } }, name);
      t.ok(Number(service["mem_limit"]) > 0 && Number(service["cpus"]) > 0, name);
      t.match(String(service["stop_grace_period"]), /^(30s|1m0s)$/, name);
      t.equal((service.healthcheck.test ?? []).length > 0, !isOnce, name);
    }
  });

  await t.test("workers of gateway and api, and what they need, are variables of their own", async (t) => {
    const plain = { mem_limit: services["faucet"]?.["mem_limit"], cpus: 2 };
    const { services: old } = await read("", { WORKERS_SYSCTL: "net.ipv4.ip_unprivileged_port_start=1024" });
    for (const [name, variable] of [
      ["gateway", "GATEWAY"],
      ["api", "API"],
    ] as const) {
      t.match(services[name], { ...plain, sysctls: { "net.ipv4.tcp_migrate_req": "1" } });
      const workers = `${variable}_WORKERS`;
      t.equal(services[name]?.environment[workers], "", `config/${name}.yaml says`);
      const wide = { [workers]: "3", [`${variable}_CPUS`]: "3", [`${variable}_MEMORY`]: "2g" };
      const { services: many } = await read("", { ...wide, PROCESS_CPUS: "1", PROCESS_MEMORY: "512m" });
      t.match(many[name], { cpus: 3, mem_limit: String(2 ** 31), environment: { [workers]: "3" } });
      t.match(many["faucet"], { cpus: 1, mem_limit: String(2 ** 29) }, "others keep theirs");
      t.strictSame(old[name]?.["sysctls"], { "net.ipv4.ip_unprivileged_port_start": "1024" });
    }
  });

  await t.test("a volume that is new takes nothing of what an image has at its place", async (t) => {
    const volumes = all.flatMap(([name, service]) =>
      service.volumes.filter(({ type }) => type === "volume").map((volume) => ({ name, volume })),
    );
    t.ok(volumes.length > 15);
    for (const { name, volume } of volumes) t.match(volume, { volume: { nocopy: true } }, name);
    const host = services["node-exporter"]?.volumes.find(({ target }) => target === "/host");
    t.match(host, { source: "/", bind: { propagation: "rslave" } }, "disks that are mounted later are seen");
  });

  await t.test(
    "PostgreSQL has a password of its own, and its volume is where its image keeps data",
    async (t) => {
      const { environment, volumes, networks } = services["postgres"] ?? {};
      t.match(environment, {
        POSTGRES_PASSWORD_FILE: "/run/secrets/postgres-password",
        POSTGRES_DB: "tollgate",
      });
      t.match(environment?.["POSTGRES_INITDB_ARGS"], /--auth=scram-sha-256/);
      t.ok(volumes?.some(({ type, target }) => type === "volume" && target === "/var/lib/postgresql"));
      t.same(Object.keys(networks ?? {}), ["services"]);
      const secret = (name: string) => readFileSync(join(folder, "secrets", name), "utf8").trim();
      const password = secret("postgres-password");
      t.match(password, /^[\w-]{32}$/);
      t.equal(secret("postgres-url"), `postgres://tollgate:${password}@postgres:5432/tollgate`);
    },
  );

  await t.test("only gateway, faucet and api publish a port, on loopback", async (t) => {
    const published = all.flatMap(([name, { ports }]) => ports.map((port) => ({ name, ...port })));
    t.match(published, [
      { name: "api", host_ip: "127.0.0.1", target: 4000 },
      { name: "faucet", host_ip: "127.0.0.1", target: 4001 },
      { name: "gateway", host_ip: "127.0.0.1", target: 8540 },
    ]);
    t.equal(published.length, 3);
  });

  await t.test("only the gateway, and what measures, is on the validators' network", async (t) => {
    const on = (network: string) =>
      all.filter(([, service]) => network in service.networks).map(([name]) => name);
    t.same(on("validators").sort(), [...five, "gateway", "network-exporter", "prometheus"].sort());
    t.same(on("claims").sort(), ["faucet", "gateway"]);
    t.same(on("pages").sort(), ["api", "gateway"]);
    t.same(on("edge").sort(), ["api", "faucet", "gateway"]);
    for (const name of ["validators", "services", "claims", "pages"])
      t.equal(networks[name]?.internal, true, name);
  });

  await t.test(
    "a validator finds its files where its config.toml looks for them, at its own address",
    async (t) => {
      for (const { name, host } of manifest.validators) {
        const service = services[name];
        t.equal(service?.networks["validators"]?.ipv4_address, host);
        const targets = [...(service?.volumes ?? []), ...(service?.configs ?? [])].map(
          ({ target }) => target,
        );
        for (const target of Object.values(containerPaths)) t.ok(targets.includes(target), target);
        const key = service?.volumes.find(({ target }) => target === containerPaths.key);
        t.equal(key?.source, join(folder, name, "key"));
      }
    },
  );

  await t.test("each starts after those that it needs are healthy", async (t) => {
    const after = (name: string) =>
      Object.entries(services[name]?.depends_on ?? {}).map(
        ([other, { condition }]) => `${other} ${condition}`,
      );
    for (const name of [...five, "redis", "redis-faucet", "postgres", "prometheus"]) {
      t.same(after(name), ["volumes service_completed_successfully"], name);
    }
    const healthy = (names: string[]) => names.map((name) => `${name} service_healthy`);
    t.same(after("gateway").sort(), healthy([...five, "redis"]).sort());
    t.same(after("faucet").sort(), healthy(["gateway", "redis-faucet"]));
    t.same(after("grafana"), healthy(["prometheus"]));
    const made = (name: string) => `${name} service_completed_successfully`;
    t.same(after("api-key").sort(), [...healthy(["redis"]), made("volumes")]);
    t.same(after("api").sort(), [...healthy(["gateway", "postgres", "redis"]), made("api-key")].sort());
  });

  await t.test("gateway, faucet and api take their configuration with what compose sets", async (t) => {
    const envOf = (name: string) => {
      const entries = Object.entries(services[name]?.environment ?? {}).map(([key, value]) => {
        const secret = value?.replace("/run/secrets/", join(folder, "secrets/"));
        return [
          key,
          key === "FAUCET_UPSTREAM_KEY_FILE" ? path("docker/development/faucet-upstream-key") : secret,
        ];
      });
      return z.record(z.string(), z.string().optional()).parse(Object.fromEntries(entries));
    };
    const gateway = readGatewayConfig({ file: path("config/gateway.yaml"), env: envOf("gateway") });
    t.equal(gateway.genesisHash, manifest.genesisHash);
    t.same(
      gateway.upstreams,
      manifest.validators.map(({ name, host, httpPort }) => ({ name, url: `http://${host}:${httpPort}` })),
    );
    t.match(gateway.redis, /^redis:\/\/gateway:[\w-]{32}@redis:6379$/);
    const faucet = readFaucetConfig({ file: path("config/faucet.yaml"), env: envOf("faucet") });
    t.match(faucet.redis, /^redis:\/\/faucet:[\w-]{32}@redis-faucet:6379$/);
    t.equal(faucet.upstreamApiKey, qaKey);
    t.equal(gateway.faucetUrl, `http://${faucet.private.host}:${faucet.private.port}`);
    t.equal(services["faucet"]?.networks["claims"]?.ipv4_address, faucet.private.host);
    t.equal(faucet.wallet.kind, "development");
    const key = join(folder, "api-key");
    writeFileSync(key, "tg_dev_of_the_volume\n");
    t.equal(envOf("api")["API_FEES_FILE"], "/etc/tollgate/fees.yaml");
    const here = { API_UPSTREAM_KEY_FILE: key, API_FEES_FILE: path("config/fees.yaml") };
    const env = { ...envOf("api"), ...here };
    const api = readApiConfig({ file: path("config/api.yaml"), env });
    t.match(api.redis, /^redis:\/\/api:[\w-]{32}@redis:6379$/, "their limits and its key are in one Redis");
    t.match(api.postgres.url, /^postgres:\/\/tollgate:[\w-]{32}@postgres:5432\/tollgate$/);
    t.match(api, {
      upstream: "http://gateway:8540",
      upstreamApiKey: "tg_dev_of_the_volume",
      publicUrl: "http://127.0.0.1:4000",
      contractsFolder: path("config/contracts"),
      faucetUrl: "http://127.0.0.1:4001",
      walletProxyUrl: "http://127.0.0.1:8541/",
      trustedProxies: ["172.28.86.8/29"],
    });
    t.equal(faucet.explorerUrl, api.publicUrl);
    const address = services["api"]?.networks["pages"]?.ipv4_address;
    t.equal(
      gateway.explorerUrl,
      `http://${address}:${api.port}`,
      "the API sees who asks, of the gateway alone",
    );
  });

  await t.test("who takes backups can write them and nothing else, and is reached by nobody", async (t) => {
    const { services } = await read("backup", { ...{ BACKUP_KEYS: "/keys", BACKUP_FOLDER: "/mnt/backups" } });
    const { backup, postgres, "postgres-backup": copies } = services;
    const written = (backup?.volumes ?? []).filter((volume) => volume["read_only"] !== true);
    t.same(written.map(({ target }) => target).sort(), ["/archive", "/backups"]);
    t.match(backup, { ports: [], networks: { services: null }, user: "1234:1235", read_only: true });
    t.equal(copies?.["network_mode"], "service:postgres");
    const env = Object.fromEntries(
      Object.entries(backup?.environment ?? {}).map(([key, value]) => [
        key,
        value?.replace("/run/secrets/", join(folder, "secrets/")),
      ]),
    );
    const config = readBackupConfig({ file: path("config/backup.yaml"), env });
    t.match(config, {
      to: "/backups",
      keys: "/backup-keys",
      networkFolder: "/network",
      everyHours: 24,
      keep: 14,
    });
    t.match([config.redis, config.redisFaucet], [/@redis:6379$/, /@redis-faucet:6379$/]);
    t.equal(dirname(config.walSpool), "/archive", "where PostgreSQL puts its log");
    t.ok(
      postgres?.volumes.some(({ source, target }) => source === "postgres-archive" && target === "/archive"),
    );
    t.match(
      postgres?.["command"],
      ["postgres", /^/, /^/, /^/, /^/, /^/, "archive_mode=off"],
      "off unless asked for",
    );
    const archiving = await read("backup", { POSTGRES_ARCHIVE_MODE: "on" });
    t.match(JSON.stringify(archiving.services["postgres"]?.["command"]), "archive_mode=on");
  });

  await t.test("what restores is started by nobody but an operator, and reaches nobody", async (t) => {
    const { restore } = (await read("restore")).services;
    t.match(restore, { network_mode: "none", restart: "no", entrypoint: ["node", "scripts/backup/main.ts"] });
    const writable = (restore?.volumes ?? []).filter((volume) => volume["read_only"] !== true);
    t.same(writable.map(({ target }) => target).sort(), [
      "/restore/postgres",
      "/restore/redis",
      "/restore/redis-faucet",
    ]);
  });

  await t.test("the api adopts a chain where its option is given, and otherwise does not", async (t) => {
    const adopting = await read("", { API_OPTIONS: "--adopt-chain" });
    t.same(adopting.services["api"]?.["command"], ["api/main.ts", "--adopt-chain"]);
    t.same(services["api"]?.["command"], ["api/main.ts"]);
  });

  await t.test("the api reads the key that was made for it, and cannot write it", async (t) => {
    const keys = (name: string) => services[name]?.volumes.find(({ target }) => target === "/keys");
    t.match(keys("api"), { type: "volume", source: "service-keys", read_only: true });
    t.match(keys("api-key"), { type: "volume", source: "service-keys" });
    t.notOk(keys("api-key")?.["read_only"]);
    t.equal(services["api"]?.environment["API_UPSTREAM_KEY_FILE"], "/keys/api");
    t.same(services["api-key"]?.["command"], [
      "scripts/keys/main.ts",
      "service",
      "api",
      "--file",
      "/keys/api",
    ]);
  });

  await t.test("a balancer stands before two gateways that nobody reaches beside it", async (t) => {
    const overlay = path("docker/load-balancers/compose.yaml");
    const certificates = join(folder, "certificates");
    const withOverlay = async (profile: string, more: Readonly<Record<string, string>>) => {
      const env = { ...environment, ...more, COMPOSE_PROFILES: profile };
      const compose = createCompose({ folder, owner: { uid: 1234, gid: 1235 }, env });
      const found = await compose.run(["--file", overlay, "config", "--format", "json"]);
      return found.ok ? { read: fileSchema.parse(JSON.parse(found.out.join("\n"))) } : found;
    };
    for (const [name, file, certificate] of [
      ["nginx", "nginx.conf", ["rpc.crt", "rpc.key"]],
      ["haproxy", "haproxy.cfg", ["rpc.pem"]],
      ["envoy", "envoy.yaml", ["rpc.crt", "rpc.key"]],
    ] as const) {
      const found = await withOverlay(name, { BALANCER_CERTIFICATES: certificates });
      if (!("read" in found)) throw new Error(found.why);
      const { services: behind, networks, secrets, configs } = found.read;
      t.same(Object.keys(behind).sort(), [...withoutProfile, "gateway-1", "gateway-2", name].sort(), name);
      t.same(behind["gateway"], services["gateway"], "the gateway for faucet and api stays as it is");
      const balancer = behind[name];
      t.match(balancer, {
        user: "1234:1235",
        read_only: true,
        cap_drop: ["ALL"],
        ports: [{ host_ip: "0.0.0.0", target: 443 }],
      });
      t.same(Object.keys(balancer?.networks ?? {}).sort(), ["balanced", "edge"]);
      t.equal(networks["balanced"]?.internal, true);
      for (const gateway of ["gateway-1", "gateway-2"]) {
        t.same(behind[gateway]?.ports, []);
        const reached = Object.keys(behind[gateway]?.networks ?? {}).sort();
        t.same(reached, ["balanced", "claims", "pages", "services", "validators"]);
        const env = z.record(z.string(), z.string()).parse(behind[gateway]?.environment);
        const redisUrl = join(folder, "secrets/redis-user-gateway");
        const config = readGatewayConfig({
          file: path("config/gateway.yaml"),
          env: { ...env, REDIS_URL_FILE: redisUrl },
        });
        t.same(config.trustedProxies, [balancer?.networks["balanced"]?.ipv4_address]);
        t.match(config, { drainDelayMs: 6000, ops: { hosts: [gateway] } });
      }
      // What the balancer's own file says is there.
      const text = readFileSync(path(`docker/load-balancers/${file}`), "utf8");
      const targets = z
        .array(z.object({ source: z.string(), target: z.string() }))
        .parse(balancer?.["secrets"]);
      t.same(
        targets.map(({ target }) => target),
        certificate.map((name) => `/etc/tollgate/${name}`),
      );
      for (const { source, target } of targets) {
        t.match(text, target);
        t.equal(secrets[source]?.file, join(certificates, target.replace("/etc/tollgate/", "")));
      }
      const [config] = balancer?.configs ?? [];
      t.equal(configs[config?.source ?? ""]?.file, path(`docker/load-balancers/${file}`));
      t.match(balancer?.["entrypoint"], name === "nginx" ? ["nginx"] : [name, /^-/]);
      if (name !== "nginx") t.match(JSON.stringify(balancer?.["entrypoint"]), config?.target);
    }
    t.match(await withOverlay("nginx", {}), { ok: false, why: /BALANCER_CERTIFICATES.*rpc\.crt/s });
  });

  await t.test("so are the signer of orders and the key that secrets are kept under", async (t) => {
    const files = {
      API_ORDER_SIGNER_KEYSTORE: "/keys/signer.json",
      API_ORDER_SIGNER_PASSWORD_FILE: "/keys/password",
      API_INVOICE_SIGNER_KEYSTORE: "/keys/invoices.json",
      API_INVOICE_SIGNER_PASSWORD_FILE: "/keys/invoices-password",
      API_SEALING_KEY_FILE: "/keys/sealing-key",
    };
    const without = await read("", {});
    t.match(without.services["api"]?.environment, {
      API_ORDER_SIGNER_KEYSTORE: "",
      API_ORDER_SIGNER_PASSWORD_FILE: "",
      API_SEALING_KEY_FILE: "",
    });
    const { services, secrets, configs } = await read("", {
      ...files,
      ...{ FEE_OWNER: "0xabc", FEES_FILE: "/keys/fees.yaml" },
    });
    t.match(configs, { fees: { file: "/keys/fees.yaml" } });
    t.match(secrets, {
      "order-signer-keystore": { file: files.API_ORDER_SIGNER_KEYSTORE },
      "order-signer-password": { file: files.API_ORDER_SIGNER_PASSWORD_FILE },
      "invoice-signer-keystore": { file: files.API_INVOICE_SIGNER_KEYSTORE },
      "invoice-signer-password": { file: files.API_INVOICE_SIGNER_PASSWORD_FILE },
      "sealing-key": { file: files.API_SEALING_KEY_FILE },
    });
    t.match(services["api"]?.environment, {
      API_ORDER_SIGNER_KEYSTORE: "/run/secrets/order-signer-keystore",
      API_ORDER_SIGNER_PASSWORD_FILE: "/run/secrets/order-signer-password",
      API_INVOICE_SIGNER_KEYSTORE: "/run/secrets/invoice-signer-keystore",
      API_INVOICE_SIGNER_PASSWORD_FILE: "/run/secrets/invoice-signer-password",
      API_SEALING_KEY_FILE: "/run/secrets/sealing-key",
      FEE_OWNER: "0xabc",
      API_FEES_FILE: "/etc/tollgate/fees.yaml",
    });
  });

  await t.test(
    "the faucet's keystore and its password are files of the host, in production too",
    async (t) => {
      const files = { FAUCET_KEYSTORE: "/keys/wallet.json", FAUCET_KEYSTORE_PASSWORD_FILE: "/keys/password" };
      const { services, secrets } = await read("", { ...files, TOLLGATE_PROFILE: "production" });
      t.match(secrets, {
        "faucet-keystore": { file: files.FAUCET_KEYSTORE },
        "faucet-keystore-password": { file: files.FAUCET_KEYSTORE_PASSWORD_FILE },
      });
      t.match(services["faucet"]?.environment, {
        TOLLGATE_PROFILE: "production",
        FAUCET_KEYSTORE: "/run/secrets/faucet-keystore",
        FAUCET_KEYSTORE_PASSWORD_FILE: "/run/secrets/faucet-keystore-password",
      });
    },
  );
});

t.test("the builder is sent only what the Dockerfile copies", async (t) => {
  const copied = readFileSync(path("docker/Dockerfile"), "utf8").matchAll(/^COPY (?!--from)(.+) \S+$/gm);
  const sources = [...copied].flatMap(([, names = ""]) => names.split(" "));
  const ignored = readFileSync(path(".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => /^[*!]/.test(line));
  t.equal(ignored[0], "*");
  t.same(ignored.slice(1).sort(), [...new Set(sources)].map((name) => `!${name}`).sort());
});

t.test("the file says which Besu, and names each image by a variable", async (t) => {
  const text = readFileSync(path("docker/compose.yaml"), "utf8");
  t.match(text, "${BESU_IMAGE:-hyperledger/besu:26.8.0}");
  const imagesSchema = z.object({ services: z.record(z.string(), z.object({ image: z.string() })) });
  const images = imagesSchema.parse(parse(text, { merge: true, maxAliasCount: -1 })).services;
  for (const [name, { image }] of Object.entries(images))
    t.match(image, /^\$\{[A-Z_]+_IMAGE:-.+:.+\}$/, name);
});
