import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { findProgram } from "../../../scripts/processes/find-program.ts";
import { findRedis } from "../../../scripts/processes/find-redis.ts";
import { findPortHolders, holdersByLsof } from "../../../scripts/processes/port-holder.ts";
import { testFolder } from "../../helpers/test-folder.ts";

t.test("who listens on a port", async (t) => {
  for (const host of ["127.0.0.1", "::1", "::"]) {
    const server = createServer().listen(0, host);
    await once(server, "listening");
    t.teardown(() => server.close());
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const expected = [{ pid: process.pid, command: new RegExp(process.execPath) }];
    t.match(await findPortHolders(port), expected, `on ${host}, as this system tells it`);
    const hasLsof = (await findProgram({ names: ["lsof"], path: process.env["PATH"] })) !== undefined;
    await t.test("as lsof tells it", { skip: hasLsof ? false : "lsof is not installed" }, async (t) => {
      t.match(await holdersByLsof(port), expected);
    });
    server.close();
    await once(server, "close");
    t.same(await findPortHolders(port), [], "nobody any more");
    if (hasLsof) t.same(await holdersByLsof(port), []);
  }
});

t.test("a Redis program", async (t) => {
  t.test("redis-server before valkey-server, each from PATH", async (t) => {
    const folder = await programs(t, {
      both: { "redis-server": "", "valkey-server": "" },
      valkey: { "valkey-server": "" },
    });
    const both = await findRedis({ env: { PATH: `${folder}/valkey:${folder}/both` }, isRoot: false, onLine });
    t.same(both, { program: join(folder, "both/redis-server") });
    const valkey = await findRedis({ env: { PATH: `:${folder}/valkey` }, isRoot: false, onLine });
    t.same(valkey, { program: join(folder, "valkey/valkey-server") });
  });

  t.test("is not a folder or a file that cannot be run", async (t) => {
    const folder = testFolder(t, { "redis-server": {}, "valkey-server": "#!/bin/sh\n" });
    t.match(await findRedis({ env: { PATH: folder }, isRoot: false, onLine }), { missing: /Install one/ });
  });

  t.test("is installed with sudo where that asks for no password", async (t) => {
    const folder = await programs(t, {
      bin: {
        "apt-get": "",
        sudo: `${noteCall}; echo Setting up; [ "$2" = true ] || /bin/ln -s sudo redis-server`,
      },
    });
    const lines: string[] = [];
    const found = await findRedis({
      env: { PATH: `${folder}/bin` },
      isRoot: false,
      onLine: (name, line) => lines.push(`${name}: ${line}`),
    });
    t.same(found, { program: join(folder, "bin/redis-server") });
    const calls = (await readFile(join(folder, "bin/calls"), "utf8")).split("\n");
    t.equal(calls[0], "-n true");
    t.match(calls[1], /^-n \/bin\/sh .*\/scripts\/processes\/install-redis\.sh$/);
    t.match(lines, [/^apt-get: There is no redis-server/, "apt-get: Setting up"], "progress is shown");
  });

  t.test("is not installed where sudo asks for a password, or where there is no sudo", async (t) => {
    const folder = await programs(t, {
      asking: { "apt-get": "", sudo: `${noteCall}; exit 1` },
      without: { "apt-get": "" },
    });
    for (const name of ["asking", "without"]) {
      const found = await findRedis({ env: { PATH: join(folder, name) }, isRoot: false, onLine });
      t.match(found, { missing: "\n  sudo sh scripts/processes/install-redis.sh\n" });
    }
    t.equal(await readFile(join(folder, "asking/calls"), "utf8"), "-n true\n");
  });

  t.test("an installation that fails is told, with what to type", async (t) => {
    const folder = await programs(t, { bin: { "apt-get": "", sudo: '[ "$2" = true ] || exit 100' } });
    const found = await findRedis({ env: { PATH: join(folder, "bin") }, isRoot: false, onLine });
    t.match(found, {
      missing: /could not be installed \(exit code 100\)[\s\S]*sudo sh scripts\/processes\/install-redis\.sh/,
    });
  });
});

/** Leaves the arguments in a file beside the program. */
const noteCall = `cd "\${0%/*}" && printf '%s\\n' "$*" >>calls`;

function onLine(): void {}

/** Folders of small shell programs, given as what follows `#!/bin/sh`. */
async function programs(t: Test, folders: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const root = testFolder(t);
  for (const [folder, scripts] of Object.entries(folders)) {
    await mkdir(join(root, folder));
    for (const [name, text] of Object.entries(scripts)) {
      await writeFile(join(root, folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    }
  }
  return root;
}
