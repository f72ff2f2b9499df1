import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import t from "tap";
import { isFree } from "../../../scripts/processes/free-port.ts";
import { claimPortBlock, reservePort } from "../../../scripts/processes/reserved-port.ts";

const helper = new URL("../../../scripts/processes/reserved-port.ts", import.meta.url).href;
/** Takes more ports than a block has, and lives until its input ends: until all have theirs. */
const program = `
  const { reservePort } = await import(${JSON.stringify(helper)});
  const ports = await Promise.all(Array.from({ length: 150 }, reservePort));
  process.stdout.write(JSON.stringify(ports) + "\\n");
  process.stdin.resume();
`;

t.test("no two processes get the same port, nor does one get it twice", async (t) => {
  const others = [1, 2, 3].map(() =>
    spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", program], {
      stdio: ["pipe", "pipe", "inherit"],
    }),
  );
  const printed = others.map((child) => text(child.stdout));
  await Promise.all(others.map((child) => once(child.stdout, "readable")));
  const own = await Promise.all(Array.from({ length: 150 }, reservePort));
  for (const child of others) child.stdin.end();
  const all: number[] = [...own, ...(await Promise.all(printed)).flatMap((line) => JSON.parse(line))];
  t.equal(all.length, 600);
  t.equal(new Set(all).size, 600);
});

t.test("a port on which somebody listens is passed over", async (t) => {
  const next = (await reservePort()) + 1;
  const server = createServer().listen(next, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  t.not(await reservePort(), next);
});

t.test("blocks are used up, and free again when their process has ended", async (t) => {
  // Where no other test claims any.
  const range = { from: 19_000, to: 19_200 };
  const blocks = [await claimPortBlock(range), await claimPortBlock(range)];
  t.same(blocks.map(({ base }) => base).sort(), [19_000, 19_100]);
  t.same(
    blocks.map(({ base, next, end }) => [next - base, end - base]),
    [
      [1, 100],
      [1, 100],
    ],
  );
  await t.rejects(claimPortBlock(range), { message: /between 19000 and 19200/ });

  const claim = `const { claimPortBlock } = await import(${JSON.stringify(helper)});
    console.log((await claimPortBlock({ from: 19_200, to: 19_300 })).base);`;
  for (const time of ["once", "again"]) {
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", claim],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    // It ends by itself: a claim keeps no process alive.
    t.equal((await text(child.stdout)).trim(), "19200", time);
  }
  t.equal(await isFree(19_200), true);
});
