import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { runGenesis } from "../../../genesis/run-genesis.ts";
import { handOver } from "../../../scripts/network/docker/hand-over.ts";
import { runNetwork } from "../../../scripts/network/run-network.ts";
import { testFolder } from "../../helpers/test-folder.ts";

async function makeNetwork(t: Test, { validators = 5 }: { validators?: number } = {}) {
  const parent = testFolder(t, {});
  const folder = join(parent, "network");
  const configFile = join(parent, "network.yaml");
  writeFileSync(configFile, `validators: ${validators}\n`);
  const args = ["init", "--config", configFile, "--out", folder];
  await runGenesis({ args, env: {}, now: () => new Date(), print: () => {}, note: t.fail });
  /** With a `docker` that is this shell script, or with none. */
  async function network({ args = ["up"], docker }: { args?: readonly string[]; docker?: string }) {
    const programs = join(parent, "bin");
    mkdirSync(programs, { recursive: true });
    if (docker !== undefined) {
      writeFileSync(join(programs, "docker"), `#!/bin/sh\n${docker}\n`);
      chmodSync(join(programs, "docker"), 0o755);
    }
    const err: string[] = [];
    const code = await runNetwork({
      args: [...args, "--folder", folder, "--config", configFile],
      env: { PATH: programs },
      now: Date.now,
      signal: new AbortController().signal,
      progress: { show: () => {}, end: () => {} },
      print: () => {},
      note: (text) => err.push(text),
    });
    return { code, err: err.join("\n") };
  }
  return { folder, network };
}

t.test("what is missing for containers is named, with what to install", async (t) => {
  const { network } = await makeNetwork(t);
  t.match(await network({}), { code: 1, err: /There is no docker here.*Install Docker Engine.*--native/ });
  t.match(await network({ args: ["status"] }), { code: 1, err: /There is no docker here/ });
  const withoutCompose = '[ "$1" = --version ]';
  t.match(await network({ docker: withoutCompose }), {
    code: 1,
    err: /not its plugin compose v2.*docker-compose-plugin/,
  });
  const withoutDaemon = '[ "$1" != info ] || { echo "Cannot connect to the Docker daemon" >&2; exit 1; }';
  t.match(await network({ docker: withoutDaemon }), {
    code: 1,
    err: /its daemon does not answer; is it running.*\n.*Cannot connect to the Docker daemon/,
  });
  const desktop = '[ "$1" != info ] || echo Docker Desktop';
  t.match(await network({ docker: desktop }), {
    code: 1,
    err: /Docker Desktop keeps.*RUNBOOK\.md.*--native/s,
  });
});

t.test("what compose says against a command is passed on", async (t) => {
  const { network } = await makeNetwork(t);
  const docker = 'case "$*" in *" config "*) echo "no configuration file provided" >&2; exit 14 ;; esac';
  t.match(await network({ docker }), {
    code: 1,
    err: /docker compose config: no configuration file provided/,
  });
});

t.test("a network of another size does not fit the compose file", async (t) => {
  const { network } = await makeNetwork(t, { validators: 4 });
  t.match(await network({}), { code: 1, err: /has 5 validators, and the network in .* has 4.*--native/ });
});

t.test("containers run as the owner of the keys, and never as root", async (t) => {
  const { folder } = await makeNetwork(t);
  const files = ["validator-1/key", "validator-5/key", "secrets/redis-url", "secrets/grafana-password"];
  const owners = () => files.map((file) => statSync(join(folder, file)).uid);
  const made = owners();
  const owner = await handOver(folder);
  t.not(owner.uid, 0);
  // What root has made is given to user 1000; anybody else keeps it.
  t.same(
    owners(),
    made.map((uid) => (uid === 0 ? 1000 : uid)),
  );
  for (const uid of owners()) t.equal(uid, owner.uid);
  for (const file of files) t.equal(statSync(join(folder, file)).mode & 0o777, 0o600);
  t.same(await handOver(folder), owner, "the second time there is nothing to do");
});
