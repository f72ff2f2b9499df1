import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { parseDocument } from "yaml";
import { z } from "zod";
import { runCommand } from "../helpers/run-command.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { buildImages, withImages } from "./build-images.ts";
import { networkHere, ownPlace, removeLeftOvers } from "./rig.ts";
import { readRunbook } from "./runbook.ts";
import { startDocker } from "./start-docker.ts";

/** Three minutes on a quiet machine, the images aside; a loaded one takes three times as long. */
t.setTimeout(1_200_000);

const root = fileURLToPath(new URL("../..", import.meta.url));
const blocks = readRunbook(readFileSync(join(root, "docker", "RUNBOOK.md"), "utf8"));
const states = ["nothing", "up", "one down", "two down", "keys lost", "production"];
const packageSchema = z.object({ scripts: z.record(z.string(), z.string()) });
const flushAll = "REDISCLI_AUTH=$(sed 's/.*:\\(.*\\)@.*/\\1/' /run/secrets/redis-url) redis-cli FLUSHALL";

t.test("a block without its state, or of another kind, is not overlooked", async (t) => {
  t.match(readRunbook("## A\n\n<!-- up -->\n\n```sh\nx\ny\n```\n"), [
    { chapter: "A", state: "up", commands: "x\ny", line: 5 },
  ]);
  t.throws(() => readRunbook("```sh\nx\n```\n"), /line 1: a block without the state/);
  t.throws(() => readRunbook("<!-- up -->\nwords\n```sh\nx\n```\n"), /without the state/);
  t.throws(() => readRunbook("<!-- up -->\n```\nx\n```\n"), /blocks of sh/);
  for (const { state, line } of blocks) t.ok(states.includes(state), `line ${line}: ${state}`);
  // Whoever takes them from another place than a block is not tested: they are short, and the same.
  t.ok(blocks.length >= 15);
});

t.test("the runbook, command by command, from a machine that has nothing", async (t) => {
  const docker = await startDocker(t);
  if ("missing" in docker) {
    t.plan(0, docker.missing);
    return;
  }
  await buildImages(docker);
  await removeLeftOvers(docker.env);
  const machine = await makeMachine(t, docker.env);
  const { sh, network, statusIs } = machine;

  /** Brings the network from `up` into a state. */
  const enter: Readonly<Record<string, (before: string | undefined) => Promise<unknown>>> = {
    nothing: async () => t.match(await network("status"), { code: 1, text: /There is no network/ }),
    up: () => statusIs(0),
    async "one down"(before) {
      // It stays down from one chapter to the next.
      if (before !== "one down") await network("stop", "3");
      await statusIs(2);
    },
    async "two down"() {
      await network("stop", "3");
      await network("stop", "5");
      await statusIs(1);
    },
    async "keys lost"() {
      // The backup of the chapter before, as it is after the last change.
      await machine.must("npm run --silent network -- keys export - > keys.jsonl");
      await machine.must(`npm run network -- compose exec -T redis sh -c ${quoted(flushAll)}`);
    },
    production: async () => machine.takeDevelopmentKeysOut(),
  };
  // Production takes away what the development profile gives, and only there keys that are lost stay lost: a gateway of the
  // development profile puts its own into Redis again.
  const last = ["production", "keys lost"];
  const order = blocks.toSorted((left, right) => last.indexOf(left.state) - last.indexOf(right.state));
  for (const [index, block] of order.entries()) {
    const { chapter, state, commands, line } = block;
    await t.test(`${chapter}, line ${line}: ${state}`, async (t) => {
      await enter[state]?.(order[index - 1]?.state);
      const begunAt = performance.now();
      // Another test may be building the images that it needs.
      const isOfImages = /\b(build|builder|image)\b/.test(commands);
      // A minute for a person's peace of mind, five times.
      const quick = commands.replaceAll("--watch-seconds 60", "--watch-seconds 1");
      const play = () => sh(quick, { withNpm: state === "nothing" });
      const { code, text } = await (isOfImages ? withImages(docker.prepared, play) : play());
      t.equal(code, 0, text);
      t.comment(`the block took ${Math.round(performance.now() - begunAt)} ms`);
      for (const words of expected[chapter] ?? []) t.match(text, words);
      if (state === "one down" && order[index + 1]?.state === state) return;
      // A chapter that is not about what is down leaves it so.
      if (state === "one down") await network("start", "3");
      await statusIs(0);
    });
    if (!t.passing()) return;
  }
});

/**
 * Pauses are for people. `npm run` runs what package.json has of that name, without npm's own half second: npm
 * itself runs where a network is begun.
 */
const quickly = `
sleep() { command sleep 0.2; }
npm() {
  if [ "$1" != run ]; then command npm "$@"; return; fi
  shift
  if [ "$1" = --silent ]; then shift; fi
  case $1 in
    network) set -- "$\{@:2}"; if [ "$1" = -- ]; then shift; fi; (${scriptOf("network")} "$@") ;;
    genesis) set -- "$\{@:2}"; if [ "$1" = -- ]; then shift; fi; (${scriptOf("genesis")} "$@") ;;
    *) command npm run "$@" ;;
  esac
}`;

function scriptOf(name: string): string {
  const { scripts } = packageSchema.parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
  return scripts[name] ?? "false";
}

/** One word for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** What a chapter's blocks say when they have done what they are for, beside ending with 0. */
const expected: Readonly<Record<string, readonly RegExp[]>> = {
  "Two down": [/The chain goes on: block \d+/],
  "A wiped disk": [/it runs again and fetches \d+ blocks/],
  "Lost API keys": [/keys/],
  PostgreSQL: [/index +(empty|complete up to block \d+)/],
  "From development to production": [/wallet +0x[0-9a-fA-F]{40}/],
};

/** A copy of the project in a folder of its own, as a machine that has just got it. */
async function makeMachine(t: Test, dockerEnv: Readonly<Record<string, string | undefined>>) {
  const folder = join(testFolder(t, {}), "project");
  mkdirSync(folder);
  for (const name of execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n")) {
    if (!name.startsWith("test/")) cpSync(join(root, name), join(folder, name));
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const place = await ownPlace({ env: dockerEnv, subnet: 97 });
  const faster = parseDocument(readFileSync(join(folder, "config", "network.yaml"), "utf8"));
  for (const [path, value] of [
    [["blockSeconds"], 1],
    [["requestTimeoutSeconds"], 2],
    [["status", "stalledAfterSeconds"], 5],
    [["containers", "firstAddress"], place.firstAddress],
  ] as const) {
    faster.setIn(path, value);
  }
  writeFileSync(join(folder, "config", "network.yaml"), String(faster));
  const env = {
    ...place.env,
    PATH: `${join(root, "node_modules", ".bin")}:${dockerEnv["PATH"]}`,
    DOCKER_BUILDKIT: "0",
    COMPOSE_BAKE: "false",
    npm_config_offline: "true",
  };
  const sh = async (commands: string, { withNpm = false }: { withNpm?: boolean } = {}) => {
    const lines = ['cd "$PROJECT_FOLDER"', withNpm ? "" : quickly, commands];
    const { code, lines: said } = await runCommand(t, {
      program: "bash",
      args: ["-euo", "pipefail", "-c", lines.join("\n")],
      env: { ...env, PROJECT_FOLDER: folder, NODE_NO_WARNINGS: "1" },
      withinMs: 420_000,
    });
    return { code, text: said.join("\n") };
  };
  const configFile = join(folder, "config", "network.yaml");
  // It only looks. What changes containers has to come from the copy: they would be made anew with the files of another folder.
  const { status } = networkHere({ folder: join(folder, "network"), configFile, env });
  const network = (...args: string[]) => sh(`node scripts/network/main.ts ${args.join(" ")}`);
  t.teardown(() => sh('npm run network -- compose --profile "*" down --volumes --timeout 2 || true'));
  return {
    sh,
    network,
    async must(commands: string) {
      const { code, text } = await sh(commands);
      if (code !== 0) throw new Error(text);
    },
    statusIs: (code: number) =>
      waitFor(`the status is ${code}`, async () => (await status()).code === code, {
        withinMs: 90_000,
        everyMs: 200,
      }),
    takeDevelopmentKeysOut() {
      for (const [name, key] of [
        ["gateway.yaml", "keys"],
        ["faucet.yaml", "developmentKey"],
      ] as const) {
        const file = join(folder, "config", name);
        const document = parseDocument(readFileSync(file, "utf8"));
        if (name === "gateway.yaml") document.delete(key);
        else document.deleteIn(["wallet", key]);
        writeFileSync(file, String(document));
      }
    },
  };
}
