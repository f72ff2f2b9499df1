import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { kill } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { runCommand } from "../helpers/run-command.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { buildImages } from "./build-images.ts";
import { makeNetwork } from "./rig.ts";
import { readRunbook } from "./runbook.ts";
import { startDocker } from "./start-docker.ts";

/** The first run also makes the images. */
t.setTimeout(600_000);

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
/** So little that a file fills it at once; a disk with less than 64 MB free counts as full. */
const diskMegabytes = 96;

t.test("what ails a container is said, and the runbook's page mends it", async (t) => {
  const docker = await startDocker(t);
  if ("missing" in docker) {
    t.plan(0, docker.missing);
    return;
  }
  await buildImages(docker);
  const made = await makeNetwork(t, docker.env, { subnet: 100 });
  const { folder, env, network, status, until, container, compose } = made;
  const disk = await smallDisk(t, { made, service: "validator-3" });
  const isFine = () =>
    waitFor("all is fine", async () => (await status()).verdict === "fine", {
      withinMs: 90_000,
      everyMs: 200,
    });

  await t.test("up that fails says the container's last lines and the runbook's page", async (t) => {
    const url = join(folder, "secrets", "redis-user-gateway");
    const right = await readFile(url, "utf8");
    // Redis takes its password from it all the same.
    await writeFile(url, right.replace(":6379", ":none"));
    const { code, err } = await network("up");
    t.equal(code, 1);
    t.match(err, /^The validators run, but what belongs to them could not be started: /);
    t.match(err, /gateway is (restarting|unhealthy|exited)/);
    t.match(err, /The last lines of gateway:\n.*redis/is);
    t.match(err, 'What to do: docker/RUNBOOK.md, chapter "Gateway".');
    t.match(err, /what was started runs on$/);
    await writeFile(url, right);
    await compose.mustRun(["rm", "--force", "--stop", "gateway", "redis"]);
    t.match(await network("up"), { code: 0, out: /All validators run already/ });
    await isFine();
  });

  await t.test(
    "a full disk: the validator goes on until its next end, then status names the disk",
    async (t) => {
      await disk.fill();
      const { height } = await status();
      await waitFor(
        "blocks after the disk is full",
        async () => ((await status()).height ?? 0) > (height ?? 0) + 2,
        { everyMs: 200 },
      );
      t.equal((await container("validator-3")).RestartCount, 0);
      kill((await container("validator-3")).State.Pid, "SIGKILL");
      const told = await until(status, ({ reasons }) =>
        reasons.some((reason) => reason.includes("disk is full")),
      );
      t.equal(told.code, 2, "at the edge of quorum");
      t.match(
        told.reasons.join("\n"),
        new RegExp(
          `validator-3 .*: its disk is full, \\d+ of ${diskMegabytes} MB are free at \\S+ \\(docker/RUNBOOK\\.md, chapter "Disk"\\)`,
        ),
      );
      t.match(await network("status"), { code: 2, out: /validator-3 .*: its disk is full/ });
      // In the moment between two of its ends it seems to run.
      const started = await until(
        () => network("start", "3"),
        ({ code }) => code !== 0,
      );
      t.match(started.err, /validator-3 has ended.*no space left on device/is);
    },
  );

  await t.test("the runbook's cure brings it back", async (t) => {
    const chapter = readRunbook(await readFile(join(root, "docker", "RUNBOOK.md"), "utf8")).filter(
      ({ chapter }) => chapter === "Disk",
    );
    const cure = chapter.at(-1)?.commands ?? "there is none";
    t.match(cure, /wipe 3/);
    await disk.makeRoom();
    const lines = [`cd ${root}`, "sleep() { command sleep 0.2; }", cure];
    const { code, lines: said } = await runCommand(t, {
      program: "bash",
      args: ["-euo", "pipefail", "-c", lines.join("\n")],
      env: { ...env, NETWORK_FOLDER: folder },
      withinMs: 180_000,
    });
    t.equal(code, 0, said.join("\n"));
    t.match(said.join("\n"), /The chain of validator-3 is removed/);
    await isFine();
    t.equal((await container("validator-3")).RestartCount, 0);
  });
});

/** Makes a service's volume a small disk of its own, before compose would make one on docker's. */
async function smallDisk(
  t: Test,
  { made, service }: { made: Awaited<ReturnType<typeof makeNetwork>>; service: string },
) {
  const { compose, parent } = made;
  const mountPoint = join(parent, "disk");
  await mkdir(mountPoint);
  await run("mount", ["-t", "tmpfs", "-o", `size=${diskMegabytes}m`, "tmpfs", mountPoint]);
  t.teardown(() => run("umount", ["--lazy", mountPoint]));
  const { name, volumes } = await compose.project();
  const labels = { "com.docker.compose.project": name, "com.docker.compose.volume": service };
  const created = await compose.docker([
    ...["volume", "create", "--driver", "local", "--opt", "type=none", "--opt", "o=bind"],
    ...["--opt", `device=${mountPoint}`],
    ...Object.entries(labels).flatMap(([label, value]) => ["--label", `${label}=${value}`]),
    volumes[service]?.name ?? "",
  ]);
  if (!created.ok) throw new Error(created.why);
  const filler = join(mountPoint, "filler");
  return {
    /** Until nothing more fits. */
    async fill(): Promise<void> {
      const why = await run("dd", ["if=/dev/zero", `of=${filler}`, "bs=1M"]).then(() => "it fits", String);
      if (!why.includes("No space left")) throw new Error(why);
    },
    makeRoom: () => rm(filler),
  };
}
