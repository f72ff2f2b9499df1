import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { readNetworkConfig } from "../../genesis/config.ts";
import { planNetwork } from "../../genesis/network-files.ts";
import { createNodeKey } from "../../genesis/node-key.ts";
import { besuArguments } from "../../scripts/network/native/besu-command.ts";
import { reservePort } from "../../scripts/processes/reserved-port.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { startStandIn } from "./besu-stand-in/start-stand-in.ts";

const shipped = fileURLToPath(new URL("../../config/network.yaml", import.meta.url));
const { files } = planNetwork({
  config: readNetworkConfig({ file: shipped, env: {} }),
  createKey: createNodeKey,
});

/** Starts the stand-in with this genesis file and these lines more in its configuration. */
async function start(
  t: Test,
  {
    change = (text: string) => text,
    lines = "",
    http,
  }: { change?: (genesis: string) => string; lines?: string; http?: number },
): Promise<void> {
  const folder = testFolder(t, {});
  for (const { path, content } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    if (path === "genesis.json") writeFileSync(join(folder, path), change(content));
    else writeFileSync(join(folder, path), path === "validator-1/config.toml" ? content + lines : content);
  }
  const args = besuArguments({
    folder,
    name: "validator-1",
    dataFolder: join(folder, "data"),
    staticNodesFile: join(folder, "static-nodes.json"),
    ports: {
      http: http ?? (await reservePort()),
      ws: await reservePort(),
      metrics: await reservePort(),
      peer: await reservePort(),
    },
  });
  await startStandIn(args, () => {});
}

t.test("the stand-in does not start with what Besu does not start with", async (t) => {
  const cases: [string, Parameters<typeof start>[1], RegExp][] = [
    [
      "an option that is misspelt",
      { lines: "rpc-http-prot=1\n" },
      /Unknown option in TOML configuration file: rpc-http-prot/,
    ],
    [
      "a value of another kind",
      { lines: 'cache-last-blocks="5"\n' },
      /Invalid value for option '--cache-last-blocks'/,
    ],
    ["a line that is no TOML", { lines: "identity=validator\n" }, /Invalid TOML configuration/],
    [
      "milliseconds for choosing transactions",
      { lines: "block-txs-selection-max-time=1500\n" },
      /pure PoA networks/,
    ],
    [
      "a genesis file without consensus",
      { change: (text) => text.replace("ibft2", "ibft3") },
      /Unable to load genesis file/,
    ],
    [
      "extraData that is cut",
      { change: (text) => text.replace(/808400000000c0"/, '"') },
      /extraData is not an RLP list/,
    ],
  ];
  for (const [title, setup, words] of cases) {
    await t.test(title, async (t) => {
      await t.rejects(start(t, setup), { message: words });
    });
  }
});

t.test("nor on a port that is taken", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  if (port === undefined) throw new Error("it has no port");
  await t.rejects(start(t, { http: port }), { message: new RegExp(`'\\[${port}\\]' already in use`) });
});
