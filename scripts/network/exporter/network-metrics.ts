import { Gauge, Registry } from "prom-client";
import type { NetworkStatus, ValidatorStatus } from "../chain/network-status.ts";

/**
 * The figures of `npm run network -- status` as metrics. Each scrape looks at the validators; scrapes at the same time
 * share one look.
 */
export function createNetworkMetrics({
  look,
  stalledAfterSeconds,
  now,
}: {
  look: () => Promise<NetworkStatus>;
  /** From this age of the newest block on the chain is stalled: it follows the network's block period. */
  stalledAfterSeconds: number;
  /** Wall milliseconds. */
  now: () => number;
}): Registry {
  const registry = new Registry();
  const registers = [registry];
  let looking: Promise<NetworkStatus> | undefined;
  const seen = createNewestBlock();
  const status = () => {
    looking ??= lookOnce(look, seen, now).finally(() => {
      looking = undefined;
    });
    return looking;
  };

  function ofNetwork(name: string, help: string, read: (status: NetworkStatus) => number | null): void {
    new Gauge({
      name: `tollgate_network_${name}`,
      help,
      registers,
      async collect() {
        const value = read(await status());
        // Without a value the metric is left out, since 0 would be wrong.
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  }

  function ofValidators(name: string, help: string, read: (validator: ValidatorStatus) => number | null) {
    new Gauge({
      name: `tollgate_network_validator_${name}`,
      help,
      labelNames: ["validator"],
      registers,
      async collect() {
        const { validators } = await status();
        this.reset();
        for (const validator of validators) {
          const value = read(validator);
          if (value !== null) this.set({ validator: validator.name }, value);
        }
      },
    });
  }

  ofNetwork("height", "Highest block that any validator was ever seen to have", ({ height }) => height);
  ofNetwork(
    "block_age_seconds",
    "Seconds since the newest block that was ever seen, by the clock: it grows while no validator answers",
    ({ ageSeconds }) => ageSeconds,
  );
  new Gauge({
    name: "tollgate_network_stalled_after_seconds",
    help: "The age of the newest block above which the chain is stalled",
    registers,
  }).set(stalledAfterSeconds);
  ofNetwork(
    "validators",
    "Validators, as the newest header names them: votes change them",
    ({ members }) => members,
  );
  ofNetwork("quorum", "Validators that have to seal a block", ({ quorum }) => quorum);
  ofNetwork("validators_present", "Validators that keep up and take part", ({ present }) => present);
  ofNetwork(
    "window_blocks",
    "The last blocks, in which rounds, turns and seals are counted",
    ({ blocks }) => blocks,
  );
  ofNetwork(
    "rounds_above_zero",
    "Blocks of the window made in a round above 0",
    ({ roundsAboveZero }) => roundsAboveZero,
  );
  ofValidators("up", "1 while a validator answers as one of this network", ({ state }) =>
    // What is none of our nodes cannot be asked.
    state === "not ours" ? null : state === "up" ? 1 : 0,
  );
  ofValidators("in_set", "1 while the newest header names it as a validator, else 0", ({ inSet }) =>
    inSet ? 1 : 0,
  );
  ofValidators("lag_blocks", "Blocks that a validator is behind the highest", ({ lag }) => lag);
  ofValidators("peers", "Peers that a validator is connected to", ({ peers }) => peers);
  ofValidators("proposed_blocks", "Blocks of the window that a validator proposed", ({ inSet, proposed }) =>
    inSet ? proposed : null,
  );
  ofValidators(
    "missed_turns",
    "Rounds of the window in which a validator should have proposed",
    ({ inSet, missedTurns }) => (inSet ? missedTurns : null),
  );
  ofValidators(
    "missed_seals",
    "Blocks of the window that a validator did not seal",
    ({ inSet, missedSeals }) => (inSet ? missedSeals : null),
  );
  return registry;
}

type NewestBlock = { height: number; atSeconds: number };

/** The newest block that was seen since the start: what validators have told stays true when they are silent. */
function createNewestBlock() {
  let newest: NewestBlock | undefined;
  return {
    newest: () => newest,
    note({ height, ageSeconds }: NetworkStatus, nowMs: number): void {
      if (height === null || ageSeconds === null) return;
      const atSeconds = nowMs / 1000 - ageSeconds;
      // An age is in whole seconds, so a block keeps its first reading.
      if (newest === undefined || height > newest.height) newest = { height, atSeconds };
    },
  };
}

/** The status, with the newest block by the clock where nobody tells one, or only somebody who is behind it. */
async function lookOnce(
  look: () => Promise<NetworkStatus>,
  seen: ReturnType<typeof createNewestBlock>,
  now: () => number,
): Promise<NetworkStatus> {
  // Before the look, as the status takes it: it may be seconds until a silent validator is given up.
  const nowMs = now();
  const status = await look();
  seen.note(status, nowMs);
  const newest = seen.newest();
  if (newest === undefined) return status;
  const ageSeconds = Math.max(0, Math.round(nowMs / 1000 - newest.atSeconds));
  return { ...status, height: newest.height, ageSeconds };
}
