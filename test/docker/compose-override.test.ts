import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { z } from "zod";
import { readNetworkConfig } from "../../genesis/config.ts";
import type { Manifest } from "../../genesis/manifest.ts";
import { withoutValidator, withValidator } from "../../genesis/members.ts";
import { planNetwork } from "../../genesis/network-files.ts";
import { createNodeKey } from "../../genesis/node-key.ts";
import { createCompose } from "../../scripts/network/docker/compose.ts";
import { composeOverride, writeComposeOverride } from "../../scripts/network/docker/compose-override.ts";
import { profilesOf } from "../../scripts/network/docker/profiles.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { composeEnvironment, findPrepared, mustRun } from "./start-docker.ts";

const mounted = z.array(z.looseObject({ source: z.string().optional(), target: z.string() })).default([]);
const projectSchema = z.object({
  services: z.record(
    z.string(),
    z.looseObject({
      user: z.string(),
      image: z.string(),
      networks: z
        .record(z.string(), z.object({ ipv4_address: z.string().optional() }).nullable())
        .default({}),
      depends_on: z
        .record(z.string(), z.object({ condition: z.string(), required: z.boolean() }))
        .default({}),
      volumes: mounted,
      configs: mounted,
    }),
  ),
  volumes: z.record(z.string(), z.unknown()),
  configs: z.record(z.string(), z.object({ file: z.string() })),
});

t.test(
  "a validator that was added is a service like the others, one that left is none of a bare up",
  async (t) => {
    const prepared = await findPrepared();
    if ("missing" in prepared) {
      if (mustRun) throw new Error(prepared.missing);
      t.plan(0, prepared.missing);
      return;
    }
    const folder = join(testFolder(t, {}), "network");
    const config = readNetworkConfig({
      file: fileURLToPath(new URL("../../config/network.yaml", import.meta.url)),
      env: {},
    });
    const plan = planNetwork({ config, createKey: createNodeKey });
    for (const { path, content } of plan.files) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    const environment = await composeEnvironment(t, prepared);
    const read = async (manifest: Manifest, profiles: string) => {
      const compose = createCompose({
        folder,
        override: await writeComposeOverride(folder, manifest),
        owner: { uid: 1234, gid: 1235 },
        env: { ...environment, COMPOSE_PROFILES: profiles },
      });
      const text = (await compose.mustRun(["config", "--format", "json"])).join("\n");
      return projectSchema.parse(JSON.parse(text));
    };
    const validatorsOf = ({ services }: z.output<typeof projectSchema>) =>
      Object.keys(services)
        .filter((name) => name.startsWith("validator-"))
        .sort();

    t.equal(composeOverride(plan.manifest), undefined, "the five of the beginning need none");
    const added = withValidator({ manifest: plan.manifest, name: "validator-6", key: createNodeKey() });
    if ("refused" in added) throw new Error(added.refused);
    const replaced = withoutValidator({ manifest: added.manifest, name: "validator-3" });
    const project = await read(replaced, "");
    t.same(
      validatorsOf(project),
      [1, 2, 4, 5, 6].map((number) => `validator-${number}`),
    );
    const { "validator-1": first, "validator-6": six, gateway, volumes } = project.services;
    t.match(six, { user: "1234:1235", networks: { validators: { ipv4_address: "172.28.84.16" } } });
    t.same(six?.depends_on, first?.depends_on);
    t.same(six?.configs, first?.configs);
    t.same(six?.["healthcheck"], first?.["healthcheck"]);
    for (const limit of ["mem_limit", "cpus", "cap_drop", "read_only", "security_opt", "tmpfs", "ulimits"]) {
      t.ok(six?.[limit] !== undefined, limit);
      t.same(six?.[limit], first?.[limit], limit);
    }
    t.same(
      six?.volumes.map(({ source, target }) => [source, target]),
      [
        ["validator-6", "/var/lib/besu"],
        [join(folder, "validator-6", "config.toml"), "/etc/besu/config.toml"],
        [join(folder, "validator-6", "key"), "/etc/besu/key"],
      ],
    );
    t.match(
      volumes?.volumes.find(({ target }) => target === "/volumes/validator-6"),
      { source: "validator-6" },
      "its volume is given to its user",
    );
    t.match(gateway?.depends_on, { "validator-3": { required: false }, "validator-1": { required: true } });
    t.ok("validator-3" in project.volumes, "what it has left is there");
    t.same(
      validatorsOf(await read(replaced, "former")),
      [1, 2, 3, 4, 5, 6].map((number) => `validator-${number}`),
    );
    const both = withoutValidator({ manifest: replaced, name: "validator-6" });
    t.same(
      validatorsOf(await read(both, "")),
      [1, 2, 4, 5].map((number) => `validator-${number}`),
    );
    t.same(
      validatorsOf(await read(plan.manifest, "")),
      [1, 2, 3, 4, 5].map((number) => `validator-${number}`),
    );

    const kept = join(folder, "config-before", "0.1.0");
    const image = {
      use: "ours:2",
      on: { api: "ours:1", backup: "ours:1" },
      config: { api: "0.1.0", backup: "0.1.0" },
    };
    writeFileSync(join(folder, "versions.json"), JSON.stringify({ besuImage: { use: "besu:2" }, image }));
    const { services, configs } = await read(plan.manifest, "backup,restore,trace,observability");
    const images = Object.fromEntries(
      Object.entries(services).map(([name, service]) => [name, service.image]),
    );
    for (const name of ["gateway", "faucet", "network-exporter"]) t.equal(images[name], "ours:2", name);
    for (const name of ["api", "api-key", "backup", "restore"]) t.equal(images[name], "ours:1", name);
    for (const name of ["validator-1", "volumes"]) t.equal(images[name], "besu:2", name);
    const configOf = (name: string) =>
      services[name]?.volumes.filter(({ target }) => target === "/app/config").map(({ source }) => source);
    for (const name of ["api", "api-key", "backup", "restore"]) t.same(configOf(name), [kept], name);
    for (const name of ["gateway", "faucet", "network-exporter"])
      t.same(configOf(name), [fileURLToPath(new URL("../../config", import.meta.url))], name);
    t.equal(configs["fees"]?.file, join(kept, "fees.yaml"), "the api's file of fees is of its version too");
  },
);

t.test("profiles of the environment, of compose.env and of a trace node add up", async (t) => {
  const config = readNetworkConfig({
    file: fileURLToPath(new URL("../../config/network.yaml", import.meta.url)),
    env: {},
    overrides: { traceNode: { enabled: true } },
  });
  const { manifest: withTraces } = planNetwork({ config, createKey: createNodeKey });
  const { traceNode: _, ...manifest } = withTraces;
  const of = (composeEnv: string, chosen?: string, network: Manifest = manifest) =>
    profilesOf({
      env: { COMPOSE_PROFILES: chosen },
      folder: testFolder(t, { "compose.env": composeEnv }),
      manifest: network,
    });
  t.equal(of(""), "");
  t.equal(of("COMPOSE_PROFILES=backup\n"), "backup");
  t.equal(of("COMPOSE_PROFILES=backup\n", "observability"), "observability,backup");
  t.equal(
    of("# mine\nCOMPOSE_PROFILES='backup, observability'\nGATEWAY_PORT=1\n", "backup"),
    "backup,observability",
  );
  t.equal(
    of("COMPOSE_PROFILES=trace\nCOMPOSE_PROFILES=backup\n", undefined, withTraces),
    "backup,trace",
    "the last line counts",
  );
  t.equal(profilesOf({ env: {}, folder: join(testFolder(t, {}), "none"), manifest }), "");
});
