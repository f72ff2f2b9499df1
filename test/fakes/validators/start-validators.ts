import type { AnvilAnswer } from "./anvil-client.ts";
import { createBlockMaking } from "./block-making.ts";
import { createGossip } from "./gossip.ts";
import { chainId, type SharedChain, startSharedChain } from "./shared-chain.ts";
import { createStateReader } from "./state-reader.ts";
import { createTurns, type Turns } from "./turns.ts";
import { type StartedValidator, startValidator, type Validator } from "./validator.ts";

export type ValidatorsOptions = {
  count?: number;
  /** A block so often. Without it a block is made by `mine` only. */
  blockTimeMs?: number;
  /** Whether validators have a WebSocket port. */
  webSocket?: boolean;
  /** How long a transaction takes from one validator's pool to the others'. */
  gossipDelayMs?: number;
  /** Besu's own limits: worker threads, and connections of each kind. */
  workersMax?: number;
  connectionsMax?: number;
  now?: () => number;
};

export type Validators = Awaited<ReturnType<typeof startValidators>>;

/**
 * Starts validators that answer like Besu 26.8.0 under IBFT 2.0 and share one chain: a real anvil, whose state they
 * show each in its own time. Faults are functions of each validator; what befalls the chain are functions of the
 * cluster, run one at a time in the order of their calls. Everything ends with the test.
 */
export async function startValidators(
  t: { teardown: (stop: () => Promise<void>) => unknown },
  options: ValidatorsOptions = {},
) {
  const { count = 5, blockTimeMs, webSocket = true, gossipDelayMs = 20 } = options;
  const { workersMax = 20, connectionsMax = 80, now = Date.now } = options;
  const chain = await startSharedChain({ now });
  const state = createStateReader({ chain });
  chain.listen({ block: () => {}, rewound: state.forget });

  const started: StartedValidator[] = [];
  const gossip = createGossip({ delayMs: gossipDelayMs, validators: started });
  for (let index = 0; index < count; index += 1) {
    const limits = { workersMax, connectionsMax };
    started.push(
      await startValidator({ index, chain, state, now, webSocket, ...limits, gossip: gossip.from(index) }),
    );
  }
  const inTurn = createTurns();
  const blocks = createBlockMaking({ chain, validators: started, inTurn, blockTimeMs });
  blocks.resume();

  async function stop(): Promise<void> {
    await blocks.stop();
    gossip.stop();
    await inTurn(async () => {
      await Promise.all(started.map(({ internals }) => internals.stop()));
      await chain.kill();
    });
  }
  t.teardown(stop);

  const validators = started.map(({ validator }) => validator);
  return {
    chainId,
    validators,
    /** One of them by its index; throws where there is none. */
    validator(index: number): Validator {
      const found = validators[index];
      if (found === undefined) throw new Error(`there is no validator ${index} among ${validators.length}`);
      return found;
    },
    urls: validators.map(({ url }) => url),
    /** The chain behind the validators: the truth that answers are compared with. */
    anvil: {
      url: chain.anvilUrl,
      async ask(method: string, params: unknown[] = []): Promise<AnvilAnswer> {
        const answer = await chain.ask(method, params);
        // The question may have changed the state (`anvil_setBalance`).
        state.forget();
        return answer;
      },
    },
    height: chain.height,
    /** A block as all validators agree on it. */
    block: chain.block,
    /** Settles when every pool has what was sent to one of them. */
    gossiped: gossip.settled,
    /** Makes blocks, also while the block time is paused, and gives the last. */
    mine: blocks.mine,
    /** The chain stalls: no block but by `mine`. */
    pause: blocks.pause,
    resume: blocks.resume,
    ...createChainControls({ chain, started, inTurn }),
    /** Ends the faults of all validators. */
    async healAll(): Promise<void> {
      await Promise.all(validators.map((validator) => validator.heal()));
    },
    stop,
  };
}

/** What befalls the chain as a whole: a development chain can do all of it. */
function createChainControls({
  chain,
  started,
  inTurn,
}: {
  chain: SharedChain;
  started: StartedValidator[];
  inTurn: Turns;
}) {
  const killedWithChain = new Set<Validator>();

  return {
    /** Ends the chain at an earlier block; what was mined above it is forgotten. */
    revert: (height: number) => inTurn(() => chain.revert(height)),

    /** A new network at the same addresses: another genesis, height 0. Its processes are new ones unless kept. */
    reset: ({ keepConnections = false } = {}) =>
      inTurn(async () => {
        await chain.reset();
        if (keepConnections) return;
        for (const { internals } of started) {
          internals.restarted();
          internals.dropConnections();
        }
      }),

    /** What `restartChain` begins with; without it the genesis. */
    saveChain: () => inTurn(chain.save),

    /** Kills the chain and the validators over it: every port refuses. */
    killChain: () =>
      inTurn(async () => {
        for (const { validator, internals } of started) if (internals.runs()) killedWithChain.add(validator);
        await Promise.all([...killedWithChain].map((validator) => validator.die()));
        await chain.kill();
      }),

    /** The same genesis at the height of `saveChain`, and the validators that `killChain` took down. */
    restartChain: () =>
      inTurn(async () => {
        await chain.restart();
        await Promise.all([...killedWithChain].map((validator) => validator.comeBack()));
        killedWithChain.clear();
      }),
  };
}
