import t from "tap";
import { buildImages } from "./build-images.ts";
import { makeNetwork } from "./rig.ts";
import { startDocker } from "./start-docker.ts";

/** The first run also makes the images. */
t.setTimeout(600_000);

t.test("PostgreSQL in its container", async (t) => {
  const docker = await startDocker(t);
  if ("missing" in docker) {
    t.plan(0, docker.missing);
    return;
  }
  await buildImages(docker);
  const { compose, container, inside, secret } = await makeNetwork(t, docker.env, { subnet: 106 });
  const up = ["up", "--detach", "--wait", "postgres"];
  const query = (text: string) => {
    const url = secret("postgres-url").replace("@postgres:", "@127.0.0.1:");
    return inside("postgres", "psql", "--no-psqlrc", "--tuples-only", "--no-align", url, "--command", text);
  };
  const health = async () => (await container("postgres")).State.Health?.Status;

  await t.test("it is made, as nobody's user and with a volume of its own, and is healthy", async (t) => {
    await compose.mustRun(up);
    t.equal(await health(), "healthy");
    t.same((await inside("postgres", "id", "-u")).out, ["1000"]);
    t.same((await query("show data_directory")).out, ["/var/lib/postgresql/18/docker"]);
    t.match(await query("create table kept as select 1 as n"), { ok: true });
  });

  await t.test("nobody comes in without the password, and it stands on no command line", async (t) => {
    for (const host of ["127.0.0.1", "/var/run/postgresql", "postgres"]) {
      const words = ["--host", host, "--username", "tollgate", "--no-password", "--command", "select 1"];
      t.match(await inside("postgres", "psql", ...words), { ok: false, why: /no password supplied/ }, host);
    }
    const lines = (await inside("postgres", "sh", "-c", "cat /proc/*/cmdline | tr '\\0' ' '")).out.join("");
    t.match(lines, /postgres -c shared_buffers/);
    t.notMatch(lines, secret("postgres-password"));
  });

  await t.test("it ends in order, and a new container has what the old one wrote", async (t) => {
    await compose.mustRun(["stop", "postgres"]);
    const said = (await compose.run(["logs", "--no-color", "postgres"])).out.join("\n");
    t.match(said, /received fast shutdown request/);
    t.match(said, /database system is shut down\s*$/);
    await compose.mustRun(["rm", "--force", "postgres"]);
    await compose.mustRun(up);
    t.same((await query("select n from kept")).out, ["1"]);
  });

  await t.test("it is not healthy for who has another password", async (t) => {
    const probe = () => inside("postgres", "sh", "/opt/postgres/takes-writes.sh");
    t.match(await probe(), { ok: true });
    await query("alter role tollgate password 'another'");
    t.match(await probe(), { ok: false, why: /password authentication failed/ });
  });
});
