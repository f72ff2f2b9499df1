import { type BlockHeader, signersOf } from "../../../lib/ibft/block-header.ts";
import { missedTurns, quorumOf } from "../../../lib/ibft/quorum.ts";
import type { NodeView } from "./observe.ts";

/** A node in the last blocks, or a validator of the set that is none of the network's nodes. */
export type ValidatorStatus = {
  /** The address, where it is none of our nodes. */
  name: string;
  address: string;
  /** `not ours`: the set names it, and it cannot be asked from here. */
  state: NodeView["state"] | "not ours";
  /** Whether it is a validator, as the newest header says. Votes change that. */
  inSet: boolean;
  /** Whether it counts for the quorum: it keeps up, and proposes or seals. */
  takesPart: boolean;
  height: number | null;
  peers: number | null;
  /** Blocks that it proposed. */
  proposed: number;
  /** Rounds above 0, which a validator causes when it does not propose in its turn. */
  missedTurns: number;
  /** Blocks without its seal in any header that the nodes showed, of those that name it as a validator. */
  missedSeals: number;
  /** The newest block of the window that it proposed. */
  lastProposed: number | null;
  /** Blocks behind the highest. */
  lag: number | null;
};

export type NetworkStatus = {
  verdict: "fine" | "stalled" | "edge of quorum";
  /** Why, in words; empty where all is fine. */
  reasons: readonly string[];
  height: number | null;
  /** Seconds since the newest block, by this machine's clock. */
  ageSeconds: number | null;
  /** How many validators there are, by the newest header. */
  members: number;
  quorum: number;
  /** Validators that keep up and take part. */
  present: number;
  /** Over how many blocks proposers, rounds and seals were counted. */
  blocks: number;
  roundsAboveZero: number;
  validators: readonly ValidatorStatus[];
};

/** 0 fine, 1 stalled, 2 at the edge of quorum: one more down and no block is made. */
export const exitCodes = { fine: 0, stalled: 1, "edge of quorum": 2 } as const;

/** A validator that is further behind is catching up and takes no part. */
const lagMax = 3;

/** A chain of longer block times is not stalled between two blocks, nor while a missed turn is waited out. */
export function stallLimitSeconds({
  stalledAfterSeconds,
  blockSeconds,
  requestTimeoutSeconds,
}: {
  /** As configured. */
  stalledAfterSeconds: number;
  blockSeconds: number;
  requestTimeoutSeconds: number;
}): number {
  return Math.max(stalledAfterSeconds, 2 * blockSeconds + requestTimeoutSeconds);
}

/** Judges a network by its nodes' answers. */
export function networkStatus({
  views,
  nowMs,
  stalledAfterSeconds,
}: {
  views: readonly NodeView[];
  nowMs: number;
  stalledAfterSeconds: number;
}): NetworkStatus {
  const blocks = mergeBlocks(views);
  const head = blocks.at(-1);
  const heights = views.flatMap(({ height }) => height ?? []);
  const height = heights.length === 0 ? null : Math.max(...heights);
  const members = head?.header.extraData.validators ?? views.map(({ address }) => address);
  const quorum = quorumOf(members.length);
  const strangers = strangersOf({ views, members });
  const all: Looked[] = [...views, ...strangers];
  const ageSeconds =
    head === undefined ? null : Math.max(0, Math.round(nowMs / 1000 - head.header.timestampSeconds));
  const absences = all.flatMap((view) => absence({ view, height, blocks, members }) ?? []);
  const absent = new Set(absences.map(({ address }) => address));
  const validators = all.map((view) => ({
    ...validatorStatus({ view, blocks, height }),
    inSet: members.includes(view.address),
    takesPart: members.includes(view.address) && !absent.has(view.address),
  }));
  const present = members.length - absent.size;
  const facts = { present, quorum, members: members.length, ageSeconds, stalledAfterSeconds };
  const { verdict, reason } = judge(facts);
  return {
    verdict,
    reasons: [...(reason === undefined ? [] : [reason]), ...absences.map(({ text }) => text)],
    height,
    ageSeconds,
    members: members.length,
    quorum,
    present,
    blocks: blocks.length,
    roundsAboveZero: blocks.filter(({ header }) => header.extraData.round > 0).length,
    validators,
  };
}

/** What is judged: a node of ours, or what the chain alone tells of another one. */
type Looked = Pick<NodeView, "name" | "address" | "trouble" | "height" | "peers"> &
  Pick<ValidatorStatus, "state">;

/** Validators that none of the nodes is: somebody voted them in elsewhere. */
function strangersOf({
  views,
  members,
}: {
  views: readonly NodeView[];
  members: readonly string[];
}): Looked[] {
  return members
    .filter((member) => !views.some(({ address }) => address === member))
    .map((address) => ({ name: address, address, state: "not ours" }));
}

/** One block as all nodes together know it. */
type MergedBlock = { header: BlockHeader; sealers: ReadonlySet<string> };

/** Block by block, lowest first: the seals are the union over all nodes. */
function mergeBlocks(views: readonly NodeView[]): MergedBlock[] {
  const byNumber = new Map<number, BlockHeader[]>();
  for (const header of views.flatMap(({ headers }) => headers)) {
    byNumber.set(header.number, [...(byNumber.get(header.number) ?? []), header]);
  }
  return [...byNumber.entries()]
    .sort(([left], [right]) => left - right)
    .flatMap(([, headers]) => {
      const [header] = headers;
      if (header === undefined) return [];
      // A seal signs hash and round: only seals of the same two belong together.
      const alike = headers.filter(
        ({ hash, extraData }) => hash === header.hash && extraData.round === header.extraData.round,
      );
      const seals = [...new Set(alike.flatMap(({ extraData }) => extraData.seals))];
      const merged = { ...header, extraData: { ...header.extraData, seals } };
      return [{ header: merged, sealers: signersOf(merged) }];
    });
}

function validatorStatus({
  view: { name, address, state, peers, height: own },
  blocks,
  height,
}: {
  view: Looked;
  blocks: readonly MergedBlock[];
  height: number | null;
}): Omit<ValidatorStatus, "inSet" | "takesPart"> {
  const turns = blocks.flatMap(({ header }) =>
    missedTurns({
      validators: header.extraData.validators,
      proposer: header.miner,
      round: header.extraData.round,
    }),
  );
  const proposed = blocks.filter(({ header }) => header.miner === address);
  const sealable = blocks.filter(({ header }) => header.extraData.validators.includes(address));
  return {
    name,
    address,
    state,
    height: own ?? null,
    peers: peers ?? null,
    proposed: proposed.length,
    missedTurns: turns.filter((missed) => missed === address).length,
    missedSeals: sealable.filter(({ sealers }) => !sealers.has(address)).length,
    lastProposed: proposed.at(-1)?.header.number ?? null,
    lag: own === undefined || height === null ? null : height - own,
  };
}

/** Why a validator does not count for the quorum; undefined where it does. */
function absence({
  view: { name, address, state, trouble, height: own },
  height,
  blocks,
  members,
}: {
  view: Looked;
  height: number | null;
  blocks: readonly MergedBlock[];
  members: readonly string[];
}): { address: string; text: string } | undefined {
  if (!members.includes(address)) return undefined;
  const because = (text: string) => ({ address, text: `${name} ${text}` });
  if (state === "stopped") return because(trouble ?? "is stopped");
  if (state === "silent") return because(trouble ?? "does not answer");
  if (state === "other network")
    return because("is not who answers on its port: that belongs to another network");
  const lag = (height ?? 0) - (own ?? 0);
  if (state === "up" && lag > lagMax) return because(`is ${lag} blocks behind`);
  // Two turns of each: who takes part has proposed or sealed by then.
  const recent = blocks.slice(-2 * members.length);
  const isSilent = recent.every(
    ({ header, sealers }) =>
      header.extraData.validators.includes(address) && header.miner !== address && !sealers.has(address),
  );
  if (recent.length === 2 * members.length && isSilent) {
    return because(`has neither proposed nor sealed any of the last ${recent.length} blocks`);
  }
  return undefined;
}

function judge({
  present,
  quorum,
  members,
  ageSeconds,
  stalledAfterSeconds,
}: {
  present: number;
  quorum: number;
  members: number;
  ageSeconds: number | null;
  stalledAfterSeconds: number;
}): { verdict: NetworkStatus["verdict"]; reason?: string } {
  if (present < quorum) {
    return {
      verdict: "stalled",
      reason: `${present} of ${members} validators take part, ${quorum} are needed: no block can be made`,
    };
  }
  if (ageSeconds === null) return { verdict: "stalled", reason: "there is no block yet" };
  if (ageSeconds > stalledAfterSeconds) {
    return { verdict: "stalled", reason: `the newest block is ${ageSeconds} s old` };
  }
  if (present > quorum) return { verdict: "fine" };
  return {
    verdict: "edge of quorum",
    reason: `${present} of ${members} validators take part, just the ${quorum} that are needed: one more down stalls the chain`,
  };
}
