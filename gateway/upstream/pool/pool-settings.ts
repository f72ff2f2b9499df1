import { z } from "zod";
import { bounded } from "../../../lib/config/schemas.ts";

/**
 * Every limit of the calls to validators. Counts are of one process; `connections` times `processes` is what a
 * validator sees.
 */
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
  /** Besu answers HTTP and WebSocket with 20 workers: above that a slow call makes a fast one wait. */
  workersPerValidator: bounded(1000, 3).default(18),
  /** Gateway processes that ask the same validators: each takes its share of the workers. */
  processes: bounded(256).default(1),
  connectTimeoutMs: bounded(60_000).default(1000),
  /** Failover in one array, and bytes of their parameters: Besu refuses a body of more than 5 MiB. */
  arrays: z
    .strictObject({
      light: bounded(1000).default(64),
      call: bounded(1000).default(8),
      /** How long an array of calls that run the EVM may take, by what its key's calls took: slow ones go alone. */
      msMax: bounded(60_000).default(100),
      /** An array that is not answered for so long is asked again in halves, and a half after half of that. */
      splitAfterMs: bounded(60_000).default(1000),
      paramsBytesMax: bounded(4 * 1024 * 1024).default(512 * 1024),
    })
    .prefault({}),
  /** An answer that is held in memory as a whole. A longer one has to be streamed, or is refused. */
  answerBytesMax: bounded(1024 * 1024 * 1024).default(32 * 1024 * 1024),
  /** What all answers hold that are being received as a whole; those of one validator at most half of it. */
  answersBytesMax: bounded(64 * 1024 * 1024 * 1024).default(96 * 1024 * 1024),
  /** From how many bytes on the answer to a call that travels alone is streamed, where the client can take that. */
  streamFromBytes: bounded(16 * 1024 * 1024).default(256 * 1024),
  /** How long a stream may stand still, whether its reader or its validator stopped. */
  streamStallMs: bounded(600_000).default(30_000),
  /** How long a stream may take in all: a reader that takes a byte now and then holds a connection. */
  streamMsMax: bounded(86_400_000).default(600_000),
  /**
   * A call that runs the EVM and has run so long at a validator that ends is put to no other: it may be what ended it.
   * A shorter one is asked once more, alone.
   */
  runMsMax: bounded(60_000).default(1000),
  /** Failover that wait for a connection, by lane; one more is refused at once. */
  queueMax: z
    .strictObject({
      light: bounded(1_000_000).default(8192),
      call: bounded(1_000_000).default(2048),
      slow: bounded(1_000_000).default(256),
    })
    .prefault({}),
  /** Failover of one key that wait or are being answered, by lane; one more is refused at once. */
  groupMax: z
    .strictObject({
      light: bounded(1_000_000).default(4096),
      call: bounded(1_000_000).default(512),
      slow: bounded(1_000_000).default(16),
    })
    .prefault({}),
  /** A late call is asked of a second validator too: later than `p95Factor` times its lane's p95, at least `afterMsMin`. */
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
      /** Silence while something is asked, after which a validator is pinged and passed over. */
      suspectAfterMs: bounded(10_000).default(250),
      pingTimeoutMs: bounded(10_000).default(500),
      /** One that has not answered for so long, since nobody asked, is pinged: no news is no proof that it is well. */
      quietMsMax: bounded(600_000).default(4000),
      /** Bad answers or broken connections in a row, after which a validator is taken out. */
      failuresMax: bounded(100).default(3),
      /** Pause before a validator that was taken out is tried again; doubled each time it fails again. */
      retryMs: bounded(10_000).default(500),
      retryMsMax: bounded(60_000).default(2000),
      /** Passed over while slower than this and than `slowFactor` times the others' median. */
      slowMsMin: bounded(60_000).default(250),
      slowFactor: z.number().min(1).max(1000).default(5),
      /** How often time is looked at: timeouts, silence, hedges. */
      sweepMs: bounded(1000, 5).default(50),
    })
    .prefault({}),
  /**
   * What one validator does not know is asked of a second, and so often a second for each key of all others: a hash that
   * only one has heard of is found, and a flood of hashes that nobody has costs two calls each.
   */
  unknownHashesPerSecondMax: bounded(1_000_000).default(50),
  /** Transactions whose sender, nonce and hash are remembered, so that none is offered again after another one. */
  sendsRemembered: bounded(1_000_000).default(20_000),
});

/** The share of a validator's workers that each lane of this process may hold at once: at least one a lane. */
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
