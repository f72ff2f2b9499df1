import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { productVersion } from "../../lib/version.ts";
import { runDocker } from "../../scripts/network/docker/run-docker.ts";
import { buildImages, withImages } from "./build-images.ts";
import { makeNetwork } from "./rig.ts";
import { startDocker } from "./start-docker.ts";

/** The first run also makes the images. */
t.setTimeout(900_000);

t.test("containers are brought to other images, one after the other", async (t) => {
  const docker = await startDocker(t);
  if ("missing" in docker) {
    t.plan(0, docker.missing);
    return;
  }
  // The network takes the test's folder.
  const configFolder = mkdtempSync(join(tmpdir(), "tollgate-config-"));
  t.teardown(() => rmSync(configFolder, { recursive: true }));
  chmodSync(configFolder, 0o755);
  cpSync(new URL("../../config", import.meta.url), configFolder, { recursive: true });
  const env = { ...docker.env, CONFIG_FOLDER: configFolder };
  await buildImages(docker);
  const made = await makeNetwork(t, env, { subnet: 112 });
  const { folder, compose, parent, network, status, container, containers, ports, until } = made;
  const tag = (name: string) => `tollgate-test/upgrade-${process.pid}:${name}`;
  const images: string[] = [];
  t.teardown(() =>
    withImages(docker.prepared, () => runDocker({ args: ["image", "rm", "--force", ...images], env })),
  );
  /** Another image over one of the tests'. */
  const derive = async (name: string, ...lines: string[]) => {
    const context = join(parent, name);
    mkdirSync(context);
    writeFileSync(join(context, "Dockerfile"), `${lines.join("\n")}\n`);
    const args = ["build", "--quiet", "--network", "none", "--tag", tag(name), context];
    const built = await withImages(docker.prepared, () =>
      runDocker({ args, env: { ...env, DOCKER_BUILDKIT: "0" } }),
    );
    if (!built.ok) throw new Error(built.why);
    images.push(tag(name));
    return tag(name);
  };
  const besu = "FROM tollgate-test/besu";
  const ours = ["FROM tollgate-test/tollgate", "USER root"];
  // What the version before refuses.
  const setting = "settingOfTheNext: 1\n";
  const readsSetting =
    "RUN sed -i 's/^    drainDelayMs:/    settingOfTheNext: bounded(9, 0).default(0),\\n    drainDelayMs:/' /app/gateway/config.ts";
  const newer = `RUN sed -i 's/"version": "${productVersion}"/"version": "99.0.0"/' /app/package.json`;
  const [badBesu, newBesu, badOurs, newOurs] = [
    await derive("bad-besu", besu, "ENV STAND_IN_VERSION=26.9.0", "ENV STAND_IN_FAULT='does not start'"),
    await derive("new-besu", besu, "ENV STAND_IN_VERSION=26.9.0"),
    await derive(
      "bad-ours",
      ...ours,
      newer,
      "RUN echo 'throw new Error(\"bad image\")' >> /app/gateway/start.ts",
      "USER 1000",
    ),
    await derive("new-ours", ...ours, newer, readsSetting, "USER 1000"),
  ];
  const quick = ["--watch-seconds", "2"];
  const imagesOf = async () =>
    Object.fromEntries([...(await containers())].map(([name, { Config }]) => [name, Config.Image]));
  const fine = () => until(status, ({ verdict, present }) => verdict === "fine" && present === 5);

  t.equal((await network("up")).code, 0);
  await fine();
  const before = await imagesOf();

  await t.test("an image that is not there is refused, and nothing is changed", async (t) => {
    const nowhere = "127.0.0.1:1/nobody/besu:1";
    t.match(await network("upgrade", "--besu", nowhere), {
      code: 1,
      err: /There is no image .*Nothing is changed/s,
    });
    t.match(await network("upgrade", "--besu", nowhere, "--dry-run"), { code: 1, err: /docker pull/ });
    t.same(await imagesOf(), before);
  });

  await t.test(
    "a new Besu that does not start: one validator goes back, and no other is touched",
    async (t) => {
      const { code, err } = await network("upgrade", "--besu", badBesu, ...quick);
      t.equal(code, 1, err);
      t.match(
        err,
        /validator-1 with Besu 26\.9\.0 .*Unsupported class file.*It goes back\..*It runs what it ran before/s,
      );
      t.same(await imagesOf(), before);
      await fine();
    },
  );

  await t.test("one validator gets the new Besu, and keeps it over every later command", async (t) => {
    const { code, out, err } = await network("upgrade", "--besu", newBesu, "--only", "2", ...quick);
    t.match({ code, out }, { code: 0, out: /^validator-2 runs 26\.9\.0/ }, err);
    t.equal((await network("up")).code, 0);
    t.same(await imagesOf(), { ...before, "validator-2": newBesu });
    await fine();
  });

  const mountOf = async (service: string) =>
    (await container(service)).Mounts.find(({ Destination }) => Destination === "/app/config")?.Source;
  const gatewayStatus = async () => (await fetch(`http://127.0.0.1:${ports.gateway}/`)).status;
  const kept = join(folder, "config-before", productVersion);
  const gatewayFile = join(configFolder, "gateway.yaml");
  const edited = "# Changed by hand since the start.\n";

  await t.test(
    "a new image of ours that does not become healthy: the gateway goes back to its image and its configuration",
    async (t) => {
      // This version takes the first change, and refuses the second.
      appendFileSync(gatewayFile, edited);
      t.equal((await network("up")).code, 0);
      appendFileSync(gatewayFile, setting);
      const { code, err } = await network("upgrade", "--image", badOurs, ...quick);
      t.equal(code, 1, err);
      t.match(err, /gateway with version 99\.0\.0 did not become healthy.*bad image.*It goes back\./s);
      t.match(
        err,
        `gateway reads the configuration as it was with version ${productVersion}: network/config-before/`,
      );
      t.match(err, /faucet, api read the configuration .* From their next start on: npm run network -- up/);
      t.match(err, /It runs what it ran before\.\n {2}faucet, api: as before/);
      t.equal((await container("gateway")).Config.Image, before["gateway"]);
      t.equal(await mountOf("gateway"), kept);
      t.match(readFileSync(join(kept, "gateway.yaml"), "utf8"), new RegExp(`${edited}$`));
      t.ok((await gatewayStatus()) < 500, "it serves");
    },
  );

  await t.test("each later start finds the files that its version takes", async (t) => {
    t.equal((await network("up")).code, 0);
    t.equal(await mountOf("api"), kept);
    await compose.mustRun(["restart", "gateway", "api"]);
    for (const name of ["gateway", "api"])
      await until(
        () => container(name),
        ({ State }) => State.Health?.Status === "healthy",
      );
  });

  await t.test(
    "a good one: gateway, faucet and api, and an older one only where it is asked for",
    async (t) => {
      const { code, out, err } = await network("upgrade", "--image", newOurs, ...quick);
      t.match({ code, out }, { code: 0, out: /^gateway, faucet, api run 99\.0\.0/ }, err);
      const now = await imagesOf();
      for (const name of ["gateway", "faucet", "api"]) t.equal(now[name], newOurs, name);
      t.equal(await mountOf("gateway"), configFolder, "they read what people edit again");
      t.match(await network("upgrade", "--image", newOurs, ...quick), {
        code: 0,
        out: /nothing was changed/,
      });
      t.match(await network("upgrade", "--image", "tollgate-test/tollgate"), {
        code: 1,
        err: /a version newer than .*--allow-downgrade/s,
      });
    },
  );

  await t.test("back to the version before, on purpose: with its files", async (t) => {
    const { code, out, err } = await network(
      ...["upgrade", "--image", "tollgate-test/tollgate", "--allow-downgrade", "--only", "gateway", ...quick],
    );
    t.match({ code, out }, { code: 0, out: /^gateway runs / }, err);
    t.equal(await mountOf("gateway"), kept);
    t.ok((await gatewayStatus()) < 500, "it serves");
  });
});
