import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { z } from "zod";
import { chainService } from "../../scripts/dev/chain-service.ts";
import type { ServiceContext } from "../../scripts/dev/service.ts";
import { testFolder } from "../helpers/test-folder.ts";

const block = z.object({ hash: z.string(), timestamp: z.string(), number: z.string() });

async function ask(url: string, number: string) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: [number, false] }),
  });
  return z.object({ result: block }).parse(await response.json()).result;
}

/** Starts the chain on a folder, looks at it, and stops it as `npm start` does. */
async function look(t: Test, folder: string) {
  const stops: (() => unknown)[] = [];
  const addresses: ServiceContext["addresses"] = {};
  const nowhere = { folder, urlFile: join(folder, "url") };
  const started = await chainService().start({
    env: process.env,
    data: {
      redis: nowhere,
      faucetRedis: nowhere,
      postgres: nowhere,
      chain: folder,
      apiKeyFile: join(folder, "key"),
      remember() {},
      async release() {},
    },
    addresses,
    stopping: new AbortController().signal,
    say: (text) => t.comment(text),
    childLine() {},
    adopt: (child, { endWithinMs }) => void stops.push(() => child.stop({ withinMs: endWithinMs })),
    guard: () => () => {},
    onStop: (stop) => void stops.push(stop),
  });
  if ("failed" in started) throw new Error(started.failed);
  const url = addresses.chain ?? "";
  const seen = { genesis: await ask(url, "0x0"), latest: await ask(url, "latest") };
  for (const stop of stops.toReversed()) await stop();
  return seen;
}

t.test("a chain that is resumed again and again keeps its genesis block and the time of day", async (t) => {
  const folder = join(testFolder(t), "chain");
  await mkdir(folder);
  const { genesis } = await look(t, folder);
  // anvil took a genesis block of its own after five starts.
  for (let start = 2; start <= 8; start += 1) {
    const seen = await look(t, folder);
    t.same(seen.genesis, genesis, `start ${start}`);
    const ageSeconds = Date.now() / 1000 - Number(seen.latest.timestamp);
    t.ok(ageSeconds < 60 && ageSeconds > -60, `its clock is right: ${ageSeconds} s`);
  }
});
