import { execFile } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import t from "tap";
import { z } from "zod";
import { runDocker } from "../../scripts/network/docker/run-docker.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { buildImages, imageVariables, withImages } from "./build-images.ts";
import { startDocker } from "./start-docker.ts";

/** Two builds of the image, each with its packages. */
t.setTimeout(600_000);

const root = fileURLToPath(new URL("../..", import.meta.url));
const docker = await startDocker(t);
/** e_machine of an ELF header, https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html. */
const machines = { amd64: 62, arm64: 183 };
const base = (architecture: string) => `tollgate-test/base-${architecture}`;
const ours = (architecture: string) => `tollgate-test/tollgate-${architecture}`;
const inspected = z.tuple([
  z.object({
    Architecture: z.string(),
    Config: z.object({ User: z.string(), Labels: z.record(z.string(), z.string()).nullish() }),
  }),
]);

t.test("our image", { skip: "missing" in docker && docker.missing }, async (t) => {
  if ("missing" in docker) return;
  const { env, prepared } = docker;
  const run = async (...args: string[]) => {
    const outcome = await runDocker({ args, env });
    if (!outcome.ok) throw new Error(`docker ${args.join(" ")}: ${outcome.why}`);
    return outcome.out;
  };
  await buildImages({ env, prepared });
  const build = async (architecture: "amd64" | "arm64") => {
    if (architecture === "amd64") await run("import", prepared.base, base(architecture));
    const given = [
      `NODE_IMAGE=${imageVariables.NODE_IMAGE}`,
      `BASE_IMAGE=${base(architecture)}`,
      `TARGETARCH=${architecture}`,
      "VERSION=1.2.3",
      "REVISION=0123456789abcdef0123456789abcdef01234567",
    ].flatMap((text) => ["--build-arg", text]);
    // The classic builder copies from no stage of another architecture: for arm64 it stops at the packages, which is all that differs.
    const stage = architecture === "amd64" ? [] : ["--target", "packages"];
    const args = ["build", "--network", "none", ...stage, "--tag", ours(architecture)];
    const outcome = await runDocker({
      args: [...args, ...given, "--file", join(root, "docker/Dockerfile"), root],
      env: { ...env, DOCKER_BUILDKIT: "0" },
    });
    if (!outcome.ok) throw new Error(outcome.why);
  };

  for (const architecture of ["amd64", "arm64"] as const) {
    t.test(`has for ${architecture} a Node.js and a native library of it and no other`, async (t) => {
      await withImages(prepared, () => build(architecture));
      t.teardown(() =>
        runDocker({ args: ["image", "rm", "--force", ours(architecture), base(architecture)], env }),
      );
      const [image] = inspected.parse(
        JSON.parse((await run("image", "inspect", ours(architecture))).join("\n")),
      );
      if (architecture === "amd64") {
        t.equal(image.Architecture, architecture);
        t.equal(image.Config.User, "1000:1000");
        t.match(image.Config.Labels, {
          "org.opencontainers.image.version": "1.2.3",
          "org.opencontainers.image.revision": "0123456789abcdef0123456789abcdef01234567",
        });
      }
      const folder = testFolder(t);
      mkdirSync(folder, { recursive: true });
      const [id = ""] = await run("create", ours(architecture), "true");
      t.teardown(() => runDocker({ args: ["rm", "--force", id], env }));
      await run("cp", `${id}:/app/node_modules`, folder);
      const { stdout } = await promisify(execFile)("find", [
        folder,
        "-name",
        "*.node",
        "-o",
        "-path",
        "*/bin/node",
        "-type",
        "f",
      ]);
      const programs = stdout.trim().split("\n");
      t.ok(programs.some((file) => /\/node-linux-[^/]+\/bin\/node$/.test(file)));
      t.ok(programs.some((file) => /\/uws_linux_[^/]+_127\.node$/.test(file)));
      for (const file of programs) {
        const head = readFileSync(file).subarray(0, 20);
        t.equal(head.toString("latin1", 1, 4), "ELF", file);
        t.equal(head.readUInt16LE(18), machines[architecture], file);
      }
    });
  }

  t.test("runs without root, on a file system that nobody can write, with no capability", async (t) => {
    const look = `
      const { accessSync, constants, readFileSync } = require("node:fs");
      const may = (path) => { try { accessSync(path, constants.W_OK); return true; } catch { return false; } };
      const capabilities = /CapEff:\\s*(\\w+)/.exec(readFileSync("/proc/self/status", "utf8"))[1];
      console.log(JSON.stringify({ uid: process.getuid(), may: ["/", "/app", "/tmp", "/app/config"].filter(may), capabilities, node: process.version }));`;
    const bounds = [
      "--rm",
      "--read-only",
      "--cap-drop",
      "ALL",
      "--security-opt",
      "no-new-privileges",
      "--network",
      "none",
    ];
    const seen = await run("run", ...bounds, imageVariables.TOLLGATE_IMAGE, "-e", look);
    t.same(JSON.parse(seen.join("\n")), {
      uid: 1000,
      may: [],
      capabilities: "0000000000000000",
      node: "v22.23.3",
    });
    for (const main of ["gateway/main.ts", "faucet/main.ts", "api/main.ts", "scripts/keys/main.ts"]) {
      t.match(
        (await run("run", ...bounds, imageVariables.TOLLGATE_IMAGE, main, "--help")).join("\n"),
        "Usage:",
        main,
      );
    }
  });

  t.test("has nothing of the repository but what it runs", async (t) => {
    const [names = ""] = await run(
      "run",
      "--rm",
      "--network",
      "none",
      imageVariables.TOLLGATE_IMAGE,
      "-p",
      'require("node:fs").readdirSync("/app").join(" ")',
    );
    t.equal(names, "api config docker faucet gateway genesis lib node_modules package.json scripts");
  });
});
