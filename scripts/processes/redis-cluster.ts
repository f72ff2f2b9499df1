import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { type OwnRedis, startOwnRedis } from "./own-redis.ts";
import { reservePort } from "./reserved-port.ts";
import type { Teardown } from "./teardown.ts";

export type ClusterNode = {
  id: string;
  process: OwnRedis;
  /** For what an operator asks of one node. */
  admin: Redis;
};

export type OwnRedisCluster = {
  /** As a configuration has it, with all six nodes. */
  url: string;
  nodes: readonly ClusterNode[];
  /** The node that has a slot now, by the word of most nodes that run. */
  ownerOf(slot: number): Promise<ClusterNode>;
  /** The replicas of a node by its own word. */
  replicasOf(node: ClusterNode): Promise<ClusterNode[]>;
  /** Moves a slot with its keys, a few at a time, as redis-cli --cluster reshard does. `between` is called after each few. */
  moveSlot(
    slot: number,
    to: ClusterNode,
    options?: { keysAtOnce?: number; between?: () => Promise<void> },
  ): Promise<void>;
  /** Resolves when all masters that run serve all slots. */
  settled(): Promise<void>;
};

const mastersCount = 3;
const nodesCount = 2 * mastersCount;
const slotsCount = 16_384;
const pollMs = 20;
const settledWithinMs = 60_000;

/**
 * A Redis Cluster on loopback: three masters with a replica each, ready within a second or two. Its nodes know each other from
 * their first moment on, by the files that CLUSTER MEET and CLUSTER ADDSLOTS would have made.
 */
export async function startRedisCluster(
  t: Teardown,
  {
    program,
    nodeTimeoutMs = 15_000,
    appendfsync,
    keepsNothing,
    users = [],
  }: {
    program?: string;
    /** For so long a node may be silent until its replica takes its place. */
    nodeTimeoutMs?: number;
    appendfsync?: "everysec" | "always";
    keepsNothing?: boolean;
    /** Its ACL users beside the default one: see `startOwnRedis`. */
    users?: readonly string[];
  } = {},
): Promise<OwnRedisCluster> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-redis-cluster-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const planned = await Promise.all(
    Array.from({ length: nodesCount }, async (_, index) => ({
      index,
      id: randomBytes(20).toString("hex"),
      port: await reservePort(),
      busPort: await reservePort(),
    })),
  );
  const nodes = await Promise.all(planned.map((node) => startNode(node)));
  const all = nodes.map(({ process }) => `127.0.0.1:${process.port}`);
  const url = `redis-cluster://${all[0]}?${all
    .slice(1)
    .map((node) => `node=${node}`)
    .join("&")}`;
  const cluster = { url, nodes, ownerOf, replicasOf, moveSlot, settled };
  await settled();
  return cluster;

  async function startNode({ index, id, port, busPort }: (typeof planned)[number]): Promise<ClusterNode> {
    const file = join(folder, `nodes-${index}.conf`);
    await writeFile(file, nodesFile(planned, index));
    const process = await startOwnRedis(t, {
      port,
      users,
      ...(program === undefined ? {} : { program }),
      ...(appendfsync === undefined ? {} : { appendfsync }),
      ...(keepsNothing === undefined ? {} : { keepsNothing }),
      more: [
        ...["--cluster-enabled", "yes", "--cluster-config-file", file, "--cluster-port", String(busPort)],
        ...["--cluster-node-timeout", String(nodeTimeoutMs)],
        // A test stops replicas for as long as it likes, and what lives goes on while a node is away.
        ...["--cluster-replica-validity-factor", "0", "--cluster-require-full-coverage", "no"],
        // A replica that loads from the socket leaves no dump.rdb, which a node that keeps nothing would begin with.
        ...["--repl-diskless-sync-delay", "0", "--repl-diskless-load", "swapdb"],
      ],
    });
    const admin = new Redis(process.port, "127.0.0.1", {
      retryStrategy: () => 20,
      maxRetriesPerRequest: null,
    });
    admin.on("error", () => {});
    t.teardown(() => admin.disconnect());
    return { id, process, admin };
  }

  /** The nodes that run and answer at once. */
  async function tellShards(): Promise<string[][]> {
    const told = await Promise.all(
      nodes.map(async ({ admin }) => {
        if (admin.status !== "ready") return [];
        const answer = await Promise.race([admin.cluster("NODES"), sleep(200)]).catch(() => undefined);
        return typeof answer === "string" ? [answer.split("\n")] : [];
      }),
    );
    return told.flat();
  }

  async function ownerOf(slot: number): Promise<ClusterNode> {
    const votes = new Map<ClusterNode, number>();
    for (const lines of await tellShards()) {
      const line = lines.find((text) => / master /.test(text.replace("myself,", "")) && hasSlot(text, slot));
      const owner = nodes.find(({ id }) => line?.startsWith(id));
      if (owner !== undefined) votes.set(owner, (votes.get(owner) ?? 0) + 1);
    }
    const [most] = [...votes].toSorted(([, one], [, other]) => other - one);
    if (most === undefined) throw new Error(`no node has the slot ${slot}`);
    return most[0];
  }

  async function replicasOf({ id, admin }: ClusterNode): Promise<ClusterNode[]> {
    const lines = String(await admin.cluster("NODES")).split("\n");
    return nodes.filter((node) => lines.some((line) => line.startsWith(node.id) && line.includes(` ${id} `)));
  }

  async function moveSlot(
    slot: number,
    to: ClusterNode,
    {
      keysAtOnce = 10,
      between = async () => {},
    }: { keysAtOnce?: number; between?: () => Promise<void> } = {},
  ): Promise<void> {
    const from = await ownerOf(slot);
    if (from === to) return;
    await to.admin.cluster("SETSLOT", slot, "IMPORTING", from.id);
    await from.admin.cluster("SETSLOT", slot, "MIGRATING", to.id);
    await between();
    for (;;) {
      const keys = await from.admin.cluster("GETKEYSINSLOT", slot, keysAtOnce);
      if (keys.length === 0) break;
      await from.admin.migrate("127.0.0.1", to.process.port, "", 0, 5000, "KEYS", ...keys.map(String));
      await between();
    }
    // The new owner first: a client that is sent to it finds that it knows.
    for (const { admin } of [to, from]) await admin.cluster("SETSLOT", slot, "NODE", to.id);
  }

  async function settled(): Promise<void> {
    const giveUpAtMs = performance.now() + settledWithinMs;
    for (;;) {
      const states = await Promise.all(
        nodes.map(async ({ process, admin }) => {
          if (!process.isRunning()) return true;
          const info = await Promise.race([admin.cluster("INFO"), sleep(200)]).catch(() => undefined);
          if (typeof info !== "string") return false;
          const replication = await admin.info("replication");
          const isWhole = /cluster_state:ok/.test(info) && /cluster_slots_ok:16384/.test(info);
          return isWhole && !/master_link_status:down/.test(replication);
        }),
      );
      if (states.every((state) => state)) return;
      if (performance.now() > giveUpAtMs) throw new Error("the Redis cluster did not settle");
      await sleep(pollMs);
    }
  }
}

/** `nodes.conf` of one node: who there is, which slots each has, and who it is itself. */
function nodesFile(planned: readonly { id: string; port: number; busPort: number }[], own: number): string {
  const lines = planned.map(({ id, port, busPort }, index) => {
    const isMaster = index < mastersCount;
    const flags = `${index === own ? "myself," : ""}${isMaster ? "master" : "slave"}`;
    const master = isMaster ? "-" : planned[index - mastersCount]?.id;
    const first = Math.floor((slotsCount * index) / mastersCount);
    const last = Math.floor((slotsCount * (index + 1)) / mastersCount) - 1;
    const slots = isMaster ? ` ${first}-${last}` : "";
    const epoch = isMaster ? index + 1 : index - mastersCount + 1;
    return `${id} 127.0.0.1:${port}@${busPort} ${flags} ${master} 0 0 ${epoch} connected${slots}`;
  });
  return `${lines.join("\n")}\nvars currentEpoch ${mastersCount} lastVoteEpoch 0\n`;
}

/** Whether a line of CLUSTER NODES says that a node has a slot. */
function hasSlot(line: string, slot: number): boolean {
  return line
    .split(" ")
    .slice(8)
    .some((range) => {
      const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
      return first !== undefined && Number(first) <= slot && slot <= Number(last);
    });
}
