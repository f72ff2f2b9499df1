import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { readLock } from "../../../scripts/release/lock/lock-file.ts";
import { runRelease } from "../../../scripts/release/run-release.ts";
import { nextVersion } from "../../../scripts/release/version/next-version.ts";
import { testFolder } from "../../helpers/test-folder.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const changelog =
  "# Changelog\n\nNewest first.\n\n## Unreleased\n\n### Added\n\n- A gate.\n- A toll.\n\n## 0.1.0 - 2026-01-01\n\n- The first.\n";
const chart = 'apiVersion: v2\nname: tollgate\nversion: 0.1.0\nappVersion: "0.1.0"\n';

/** A repository of its own with this one's package files. */
function startRepository(t: Test, text = changelog) {
  const folder = testFolder(t);
  const write = (file: string, content: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  };
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: "pipe" }).trim();
  for (const file of ["package.json", "package-lock.json"]) cpSync(join(root, file), join(folder, file));
  write("CHANGELOG.md", text);
  write("docker/helm/tollgate/Chart.yaml", chart);
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Tester");
  git("config", "user.email", "tester@example.invalid");
  git("add", "--all");
  git("commit", "--quiet", "--message", "All");
  const read = (file: string) => readFileSync(join(folder, file), "utf8");
  const version = async (...args: string[]) => {
    const lines: string[] = [];
    const say = (line: string) => lines.push(line);
    const input = {
      env: {},
      root: folder,
      now: () => new Date("2026-11-23T10:00:00Z"),
      print: say,
      note: say,
    };
    const code = await runRelease({ args: ["version", ...args], ...input });
    return { code, text: lines.join("\n") };
  };
  return { folder, git, read, write, version };
}

const ownVersion: string = readLock(join(root, "package-lock.json")).version;

t.test("a version is one commit and one tag, and stands wherever it has to", async (t) => {
  const { git, read, folder, version } = startRepository(t);
  const dry = await version("9.8.7", "--dry-run");
  t.match(dry, { code: 0, text: /A gate\.\n- A toll\.\n\nNothing was changed/ });
  t.equal(git("status", "--porcelain") + git("tag"), "");

  t.match(await version("9.8.7"), { code: 0, text: "git push origin main v9.8.7" });
  t.equal(git("status", "--porcelain"), "", "nothing is left over");
  t.equal(git("log", "-1", "--format=%s"), "Release 9.8.7");
  t.equal(git("rev-parse", "v9.8.7^{commit}"), git("rev-parse", "HEAD"));
  t.match(
    git("tag", "--list", "v9.8.7", "--format=%(contents)"),
    "### Added\n\n- A gate.",
    "with the chapter's headings",
  );
  t.equal(JSON.parse(read("package.json")).version, "9.8.7");
  const lock = readLock(join(folder, "package-lock.json"));
  t.same([lock.version, lock.packages[""]?.version], ["9.8.7", "9.8.7"]);
  t.equal(read("docker/helm/tollgate/Chart.yaml"), chart.replaceAll("0.1.0", "9.8.7"));
  t.equal(
    git("diff", "HEAD~1", "--numstat", "--", "package-lock.json").split("\t")[0],
    "2",
    "and nothing else is written",
  );
  t.match(
    read("CHANGELOG.md"),
    "## Unreleased\n\n## 9.8.7 - 2026-11-23\n\n### Added\n\n- A gate.\n- A toll.\n\n## 0.1.0 - 2026-01-01\n",
  );

  t.match(
    await version("patch"),
    { code: 1, text: /nothing under "## Unreleased"/ },
    "an empty chapter is no version",
  );
});

t.test("what stands in the way is said, and nothing is changed", async (t) => {
  const { git, write, version, read } = startRepository(t);
  const head = git("rev-parse", "HEAD");
  t.match(await version(), { code: 2, text: "VERSION is missing" });
  t.match(await version("pach"), { code: 2, text: 'not "pach"' });
  t.match(await version("0.0.1"), { code: 2, text: `0.0.1 is not newer than ${ownVersion}` });
  t.match(await version("1.0.0-rc.1"), { code: 2, text: "was expected" });
  git("switch", "--quiet", "--create", "topic");
  t.match(await version("9.0.0"), { code: 1, text: "git switch main" });
  git("switch", "--quiet", "main");
  git("tag", "v9.0.0");
  t.match(await version("9.0.0"), { code: 1, text: "There is a tag v9.0.0 already" });
  write("new-file", "");
  t.match(await version("9.1.0"), { code: 1, text: /The work tree has changes.*\n\?\? new-file/ });
  git("clean", "--quiet", "--force");
  // A hook that refuses the commit.
  write(".git/hooks/pre-commit", "#!/bin/sh\necho not now >&2\nexit 1\n");
  execFileSync("chmod", ["+x", ".git/hooks/pre-commit"], { cwd: join(git("rev-parse", "--show-toplevel")) });
  t.match(await version("9.1.0"), { code: 1, text: /Nothing was changed: .*[\s\S]*not now/ });
  t.equal(git("status", "--porcelain"), "");
  t.equal(git("rev-parse", "HEAD"), head);
  t.equal(git("tag"), "v9.0.0");
  t.equal(read("CHANGELOG.md"), changelog);
});

t.test("this repository's changelog and files are ready for the next version", async (t) => {
  const { version } = startRepository(t, readFileSync(join(root, "CHANGELOG.md"), "utf8"));
  t.match(await version("minor", "--dry-run"), { code: 0 });
});

t.test("versions follow each other", async (t) => {
  t.same(
    ["patch", "minor", "major", "1.2.4", "1.10.0", "2.0.0"].map((word) => nextVersion("1.2.3", word)),
    ["1.2.4", "1.3.0", "2.0.0", "1.2.4", "1.10.0", "2.0.0"].map((version) => ({ version })),
  );
  for (const word of ["1.2.3", "1.2.2", "1.1.9", "0.9.9", "v2.0.0", "2.0", "02.0.0", "", "2.0.0 "]) {
    t.ok("wrong" in nextVersion("1.2.3", word), word);
  }
});
