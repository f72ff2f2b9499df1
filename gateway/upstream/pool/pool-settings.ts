import { z } from "zod";
import { bounded } from "../../../lib/config/schemas.ts";

/** Every limit of the calls to validators. Counts are of one process: a validator sees `connections` times `processes`. */
export type PoolSettings = z.output<typeof poolSettingsSchema>;

/** The section `forward` of the gateway's configuration. `poolSettingsSchema.parse({})` gives the defaults. */
export const poolSettingsSchema = z.strictObject({
  /** Connections to one validator, by lane. Each has one request in flight, so they are also the requests at once. */
  connections: z
    .strictObject({
      light: bounded(64).default(4),
      call: bounded(64).default(4),
      slow: bounded(64).default(8),
    })
    .prefault({}),
  /** Besu has 20 workers for HTTP and WebSocket: with more requests at once a slow call makes a fast one wait. */
  workersPerValidator: bounded(1000, 3).default(18),
  /** Gateway processes with the same validators: each takes its share of the workers. */
  processes: bounded(256).default(1),
  connectTimeoutMs: bounded(60_000).default(1000),
  /** Calls of one array, and bytes of their parameters: Besu refuses a body of more than 5 MiB. */
  arrays: z
    .strictObject({
      light: bounded(1000).default(64),
      call: bounded(1000).default(8),
      /** How long an array of calls that run the EVM should take, by the time of its key's calls: slow ones go alone. */
      msMax: bounded(60_000).default(100),
      /** An array without an answer for so long is retried in halves, and a half after half of that. */
      splitAfterMs: bounded(60_000).default(1000),
      paramsBytesMax: bounded(4 * 1024 * 1024).default(512 * 1024),
    })
    .prefault({}),
  /** The longest answer that is held in memory as a whole. A longer one is streamed or refused. */
  answerBytesMax: bounded(1024 * 1024 * 1024).default(32 * 1024 * 1024),
  /** What all answers hold while they come in; those of one validator at most half of it. */
  answersBytesMax: bounded(64 * 1024 * 1024 * 1024).default(96 * 1024 * 1024),
  /** From so many bytes on the answer to a lone call is streamed, where the client can take that. */
  streamFromBytes: bounded(16 * 1024 * 1024).default(256 * 1024),
  /** How long a stream may stand still, whether its reader or its validator stops. */
  streamStallMs: bounded(600_000).default(30_000),
  /** How long a stream may take in all: a reader that takes a byte now and then would hold a connection for ever. */
  streamMsMax: bounded(86_400_000).default(600_000),
  /**
   * A call that runs the EVM and has run for so long goes to no other validator where its own ends: it may have ended it.
   * A shorter one is retried once, alone.
   */
  runMsMax: bounded(60_000).default(1000),
  /** Calls that wait for a connection, by lane; one more is refused at once. */
  queueMax: z
    .strictObject({
      light: bounded(1_000_000).default(8192),
      call: bounded(1_000_000).default(2048),
      slow: bounded(1_000_000).default(256),
    })
    .prefault({}),
  /** Calls of one key that wait or are being answered, by lane; one more is refused at once. */
  groupMax: z
    .strictObject({
      light: bounded(1_000_000).default(4096),
      call: bounded(1_000_000).default(512),
      slow: bounded(1_000_000).default(16),
    })
    .prefault({}),
  /** A late call goes to a second validator too: later than `p95Factor` times its lane's p95, at least `afterMsMin`. */
  hedge: z
    .strictObject({
      afterMsMin: bounded(60_000).default(100),
      p95Factor: z.number().min(1).max(100).default(4),
      shareMax: z.number().min(0).max(1).default(0.02),
      burst: bounded(10_000, 0).default(32),
    })
    .prefault({}),
  health: z
    .strictObject({
      /** A validator with open requests that is silent for so long is pinged and passed over. */
      suspectAfterMs: bounded(10_000).default(250),
      pingTimeoutMs: bounded(10_000).default(500),
      /** A validator that got no calls for so long is pinged: silence is no proof that it is well. */
      quietMsMax: bounded(600_000).default(4000),
      /** Bad answers or broken connections in a row, after which a validator is ejected. */
      failuresMax: bounded(100).default(3),
      /** Pause before an ejected validator is pinged again; doubled each time it fails again. */
      retryMs: bounded(10_000).default(500),
      retryMsMax: bounded(60_000).default(2000),
      /** Passed over while slower than this and than `slowFactor` times the others' median. */
      slowMsMin: bounded(60_000).default(250),
      slowFactor: z.number().min(1).max(1000).default(5),
      /** How often the sweep looks for timeouts, silence and late calls. */
      sweepMs: bounded(1000, 5).default(50),
    })
    .prefault({}),
  /**
   * A hash that one validator does not know goes to a second one, and so many a second for each key go to all others. So a
   * hash that only one validator knows is found, and a flood of hashes that nobody knows costs two calls each.
   */
  unknownHashesPerSecondMax: bounded(1_000_000).default(50),
  /** Transactions whose sender, nonce and hash are remembered, so that none is sent again after a later one. */
  sendsRemembered: bounded(1_000_000).default(20_000),
});

/** The share of a validator's workers for each lane of this process: at least one a lane. */
export function laneConnections(
  settings: Pick<PoolSettings, "connections" | "workersPerValidator" | "processes">,
): { light: number; call: number; slow: number } {
  const { light, call, slow } = settings.connections;
  const share = Math.floor(settings.workersPerValidator / settings.processes);
  const wanted = light + call + slow;
  if (wanted <= share) return { light, call, slow };
  const scaled = (lane: number) => Math.max(1, Math.floor((lane * share) / wanted));
  return { light: scaled(light), call: scaled(call), slow: scaled(slow) };
}
