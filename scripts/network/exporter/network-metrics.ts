import { Gauge, Registry } from "prom-client";
import type { NetworkStatus, ValidatorStatus } from "../chain/network-status.ts";

/**
 * What `npm run network -- status` says, as metrics: the validators are looked at whenever somebody asks for them. Who
 * asks while that is going on shares the answer.
 */
export function createNetworkMetrics({ look }: { look: () => Promise<NetworkStatus> }): Registry {
  const registry = new Registry();
  const registers = [registry];
  let looking: Promise<NetworkStatus> | undefined;
  const status = () => {
    looking ??= look().finally(() => {
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
        // Without a value the metric is left out: 0 would be a wrong one.
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

  ofNetwork("height", "Highest block of any validator", ({ height }) => height);
  ofNetwork("block_age_seconds", "Seconds since the newest block", ({ ageSeconds }) => ageSeconds);
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
    state === "up" ? 1 : 0,
  );
  ofValidators("lag_blocks", "Blocks that a validator is behind the highest", ({ lag }) => lag);
  ofValidators("peers", "Peers that a validator is connected to", ({ peers }) => peers);
  ofValidators(
    "proposed_blocks",
    "Blocks of the window that a validator proposed",
    ({ proposed }) => proposed,
  );
  ofValidators(
    "missed_turns",
    "Rounds of the window in which a validator should have proposed",
    ({ missedTurns }) => missedTurns,
  );
  ofValidators(
    "missed_seals",
    "Blocks of the window that a validator did not seal",
    ({ missedSeals }) => missedSeals,
  );
  return registry;
}
