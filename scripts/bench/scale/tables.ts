import { keysMax } from "../../../lib/keys/key-store.ts";
import { markdownTable } from "../../docs/markdown-table.ts";
import type { Measured } from "./measured.ts";
import { assumed, leaseScripts, plan, subscribersOf } from "./model.ts";
import { simulateLeases } from "./simulate-leases.ts";

const thousand = 1000;
const million = 1_000_000;
const seed = 8845;

/** What was measured, and where it came from. */
export function measuredTable(measured: Measured): string {
  const { gateway, webSocket, redis, keyCacheBytes, leaseScripts: scripts } = measured;
  return [
    `Measured ${measured.at} on ${measured.machine}.`,
    markdownTable(
      ["What", "Figure", "By"],
      [
        [
          "lone calls, each answered by a validator, a second of one core",
          whole(gateway.loneCalls),
          "`npm run bench -- gateway --only ours --work unique`",
        ],
        [
          "calls of the load's mix, the same",
          whole(gateway.mixedCalls),
          "`npm run bench -- gateway --only ours --work mix`",
        ],
        ["an idle WebSocket", `${whole(webSocket.idleSocketBytes)} bytes`, "`npm run bench -- websocket`"],
        [
          "telling one subscriber of one block",
          `${webSocket.notificationMicros} µs of a core`,
          "`npm run bench -- websocket`",
        ],
        [
          `a key in Redis, of ${whole(redis.keys)}`,
          `${whole(redis.bytesPerKey)} bytes`,
          "`npm run bench -- scale`",
        ],
        ["look-ups of keys, a second of Redis's core", whole(redis.lookUps), "`npm run bench -- scale`"],
        ["leases of limits, the same", whole(redis.leases), "`npm run bench -- scale`"],
        ["a known key in a gateway's memory", `${whole(keyCacheBytes)} bytes`, "`npm run bench -- scale`"],
        [
          "scripts a second of a busy key: one process, two",
          `${whole(scripts.one)}, ${whole(scripts.two)}`,
          "`npm run bench -- scale`",
        ],
      ],
    ),
  ].join("\n\n");
}

/** What is set, because it is not measured here. */
export function assumedTable(): string {
  return markdownTable(
    ["Set, not measured here", "Value"],
    [
      [
        "a core's share that is planned with; the rest is for bursts, the collector and the loss of a neighbour",
        percent(assumed.busyShare),
      ],
      ["cores of a machine", whole(assumed.coresPerMachine)],
      ["calls that no gateway has in memory and a node answers", percent(assumed.toNodesShare)],
      [
        "calls that one Besu answers a second beside its blocks (`npm run load` measures yours)",
        whole(assumed.nodeCalls),
      ],
      ["seconds between blocks", whole(assumed.blockSeconds)],
      ["the n-th busiest key makes 1/n of the busiest one's calls", `n^${assumed.skew}`],
    ],
  );
}

/** What it takes, from one core to a million calls a second. */
export function planTable(measured: Measured): string {
  const targets = [
    { calls: Math.floor(measured.gateway.mixedCalls * assumed.busyShare), keys: thousand },
    { calls: 10 * thousand, keys: thousand },
    { calls: 100 * thousand, keys: 10 * thousand },
    { calls: 100 * thousand, keys: million },
    { calls: million, keys: 100 * thousand },
    { calls: million, keys: million },
  ];
  return markdownTable(
    [
      "Calls a second",
      "Keys",
      "Gateway processes",
      "Machines",
      "Lease scripts a second",
      "Redis cores",
      "with each key on 2 processes",
      "Redis memory",
      "Calls to nodes",
      "Besu nodes",
    ],
    targets.map((target) => {
      const row = plan(measured, target);
      return [
        whole(row.calls),
        whole(row.keys),
        whole(row.gatewayProcesses),
        whole(row.machines),
        whole(row.leaseScripts),
        whole(row.redisCores),
        whole(row.redisCoresSticky),
        `${whole(row.redisBytes / million)} MB`,
        whole(row.nodeCalls),
        whole(row.nodes),
      ];
    }),
  );
}

/** The lowest number at which each part gives out, with what to do about it. */
export function breaksTable(measured: Measured): string {
  const leases = measured.redis.leases * assumed.busyShare;
  const { webSocketConnectionsMax, knownKeysMax, upstreamsMax } = bounds;
  return markdownTable(
    ["What gives out", "At", "Then"],
    [
      [
        "Besu's WebSockets for heads",
        `${whole(webSocketConnectionsMax)} gateway processes that each follow it alone`,
        "one head for all processes of a machine (`workers`), or `webSocketConnectionsMax` in `network.yaml`",
      ],
      [
        "nodes that one gateway can ask",
        `${upstreamsMax}`,
        "a balancer before nodes of one region, as one upstream",
      ],
      [
        "keys in one store",
        `${whole(keysMax)} (\`keysMax\`), ${whole((keysMax * measured.redis.bytesPerKey) / million)} MB`,
        "the bound is there for the look of all keys at a start; a million fit into memory, and their own store for each region is the way",
      ],
      [
        "keys that a process has in memory",
        `${whole(knownKeysMax)}, ${whole((knownKeysMax * measured.keyCacheBytes) / million)} MB`,
        `what is pushed out is looked up again: ${whole(measured.redis.lookUps * assumed.busyShare)} a second of one Redis core`,
      ],
      [
        "one Redis core with leases",
        `${whole(leases)} scripts a second: ${whole(busyKeysOf(measured))} busy keys on ten processes each`,
        "more shards: each team's counters have a hash tag of their own; or fewer processes for a key",
      ],
      [
        "one gateway core",
        `${whole(measured.gateway.mixedCalls * assumed.busyShare)} calls a second`,
        "`workers`, then machines",
      ],
      [
        "one core with subscribers of newHeads",
        `${whole(subscribersOf(measured, assumed.busyShare))} of them, told within ${assumed.blockSeconds} s`,
        "`workers`, then machines: each tells its own",
      ],
    ],
  );
}

/** Bounds of other places, which a test holds against them. */
export const bounds = { webSocketConnectionsMax: 500, knownKeysMax: 20_000, upstreamsMax: 30 } as const;

function busyKeysOf(measured: Measured): number {
  return Math.floor((measured.redis.leases * assumed.busyShare) / (10 * measured.leaseScripts.one));
}

/** The rule of leases played with the gateway's own code, beside what Redis counted and what the model says. */
export function simulationTable(measured: Measured): string {
  const scriptsOfBusyKey = measured.leaseScripts.one;
  const measuredOf = new Map([
    [1, measured.leaseScripts.one],
    [2, measured.leaseScripts.two],
  ]);
  return markdownTable(
    ["Processes", "Calls a second of one key", "Simulated scripts a second", "Measured", "Model"],
    [
      [1, 2000],
      [2, 2000],
      [10, 2000],
      [10, 20],
      [100, 20_000],
    ].map(([processes = 1, calls = 1]) => {
      const seconds = 5;
      const { scripts } = simulateLeases({ callsPerSecond: calls, processes, seconds, seed });
      const isMeasured = calls === 2000;
      return [
        whole(processes),
        whole(calls),
        whole(scripts / seconds),
        isMeasured ? (measuredOf.get(processes)?.toString() ?? "") : "",
        whole(leaseScripts({ calls, keys: 1, processes, scriptsOfBusyKey })),
      ];
    }),
  );
}

function whole(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, " ");
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
