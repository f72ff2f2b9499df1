import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import t from "tap";
import type { Manifest } from "../../../genesis/manifest.ts";
import type { NetworkStatus, ValidatorStatus } from "../../../scripts/network/chain/network-status.ts";
import { createNetworkMetrics } from "../../../scripts/network/exporter/network-metrics.ts";
import { start } from "../../../scripts/network/exporter/start.ts";

const validator: ValidatorStatus = {
  name: "validator-1",
  address: "0x01",
  state: "up",
  inSet: true,
  takesPart: true,
  height: 9,
  peers: 4,
  lag: 0,
  proposed: 2,
  missedTurns: 1,
  missedSeals: 3,
  lastProposed: 8,
};
const status: NetworkStatus = {
  verdict: "fine",
  reasons: [],
  height: 9,
  ageSeconds: 1,
  members: 5,
  quorum: 4,
  present: 5,
  blocks: 9,
  roundsAboveZero: 1,
  validators: [
    validator,
    { ...validator, name: "validator-2", state: "silent", height: null, peers: null, lag: null },
  ],
};

const linesOf = async (registry: ReturnType<typeof createNetworkMetrics>) =>
  (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));

t.test("the status as metrics; what is not known is left out", async (t) => {
  let now = status;
  let looks = 0;
  let nowMs = 1_700_000_000_000;
  const registry = createNetworkMetrics({
    stalledAfterSeconds: 10,
    async look() {
      looks += 1;
      return now;
    },
    now: () => nowMs,
  });
  t.same(await linesOf(registry), [
    "tollgate_network_height 9",
    "tollgate_network_block_age_seconds 1",
    "tollgate_network_stalled_after_seconds 10",
    "tollgate_network_validators 5",
    "tollgate_network_quorum 4",
    "tollgate_network_validators_present 5",
    "tollgate_network_window_blocks 9",
    "tollgate_network_rounds_above_zero 1",
    'tollgate_network_validator_up{validator="validator-1"} 1',
    'tollgate_network_validator_up{validator="validator-2"} 0',
    'tollgate_network_validator_in_set{validator="validator-1"} 1',
    'tollgate_network_validator_in_set{validator="validator-2"} 1',
    'tollgate_network_validator_lag_blocks{validator="validator-1"} 0',
    'tollgate_network_validator_peers{validator="validator-1"} 4',
    'tollgate_network_validator_proposed_blocks{validator="validator-1"} 2',
    'tollgate_network_validator_proposed_blocks{validator="validator-2"} 2',
    'tollgate_network_validator_missed_turns{validator="validator-1"} 1',
    'tollgate_network_validator_missed_turns{validator="validator-2"} 1',
    'tollgate_network_validator_missed_seals{validator="validator-1"} 3',
    'tollgate_network_validator_missed_seals{validator="validator-2"} 3',
  ]);
  t.equal(looks, 1, "all of them from one look");
  now = { ...status, height: null, ageSeconds: null, validators: [] };
  nowMs += 3_600_000;
  t.same(
    await linesOf(registry),
    [
      "height 9",
      "block_age_seconds 3601",
      "stalled_after_seconds 10",
      "validators 5",
      "quorum 4",
      "validators_present 5",
      "window_blocks 9",
      "rounds_above_zero 1",
    ].map((line) => `tollgate_network_${line}`),
    "the last block that was seen grows old by the clock when all are silent",
  );
  now = { ...status, height: 4, ageSeconds: 2 };
  t.match((await linesOf(registry))[1], "block_age_seconds 3601", "one that is behind brings no news");
  now = { ...status, height: 10, ageSeconds: 0 };
  t.same((await linesOf(registry)).slice(0, 2), [
    "tollgate_network_height 10",
    "tollgate_network_block_age_seconds 0",
  ]);
});

t.test("of a network that was never seen neither height nor age is told", async (t) => {
  const look = async () => ({ ...status, height: null, ageSeconds: null, validators: [] });
  const lines = await linesOf(createNetworkMetrics({ look, stalledAfterSeconds: 10, now: Date.now }));
  t.equal(lines.filter((line) => /_height|_age_/.test(line)).length, 0);
});

t.test("the server asks the network's validators, and says which one is silent", async (t) => {
  const genesisHash = `0x${"ab".repeat(32)}`;
  const results = ["0x0", "0x3", { hash: genesisHash }];
  const node = createServer(async (request, response) => {
    const calls: { id: number }[] = JSON.parse(await text(request));
    response.end(JSON.stringify(calls.map(({ id }, index) => ({ id, result: results[index] }))));
  });
  node.listen(0, "127.0.0.1");
  await once(node, "listening");
  t.teardown(() => {
    node.close();
    node.closeAllConnections();
  });
  const address = node.address();
  const httpPort = typeof address === "object" && address !== null ? address.port : 0;
  const place = { nodeId: "", host: "127.0.0.1", peerPort: 1, metricsPort: 1 };
  const manifest: Manifest = {
    chainId: 8845,
    consensus: "ibft2",
    genesisHash,
    blockSeconds: 15,
    requestTimeoutSeconds: 20,
    javaMemoryMb: 512,
    validators: [
      { ...place, name: "validator-1", address: "0x01", httpPort },
      { ...place, name: "validator-2", address: "0x02", httpPort: 1 },
    ],
  };
  const settings = { windowBlocks: 10, stalledAfterSeconds: 10 };
  const server = await start(
    { manifest, status: settings, host: "127.0.0.1", port: 0, hosts: [] },
    { now: Date.now },
  );
  t.teardown(() => server.stop());
  const metrics = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
  t.match(metrics, "tollgate_network_stalled_after_seconds 50", "two blocks and a missed turn");
  t.match(metrics, 'tollgate_network_validator_up{validator="validator-1"} 1');
  t.match(metrics, 'tollgate_network_validator_peers{validator="validator-1"} 3');
  t.match(metrics, 'tollgate_network_validator_up{validator="validator-2"} 0');
});
