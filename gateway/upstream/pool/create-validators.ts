import type { Logger } from "pino";
import type { ReceiveBudget } from "../../answer-budget/receive-budget.ts";
import type { NamedUpstream } from "../named-upstreams.ts";
import { type PoolHead, tierOf } from "./choose.ts";
import type { FailureReason } from "./connection.ts";
import { createHealth } from "./health.ts";
import { lightLane } from "./lanes.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { createValidator, dropConnection, type Validator } from "./validator.ts";

/** Bits of one number tell which validators have had a call. */
const validatorsMax = 30;

export type ValidatorList = ReturnType<typeof createValidators>;

/**
 * The validators, each with its health. The last one that can be asked is never ejected. One that is not configured any more
 * keeps its place until it has answered what it has: calls name validators by their places.
 */
export function createValidators({
  upstreams,
  settings,
  receiving,
  head,
  logger,
  onEjected,
}: {
  upstreams: readonly NamedUpstream[];
  settings: PoolSettings;
  receiving: ReceiveBudget;
  head: PoolHead;
  logger: Logger;
  onEjected: (validator: Validator, reason: FailureReason) => void;
}) {
  const validators: Validator[] = [];
  const urls = new Map<Validator, string>();
  /** Places whose validator is gone, the one that is free for longest first. */
  const free: number[] = [];

  const isSound = (validator: Validator) =>
    tierOf(validator, lightLane, head) <= 2 && !validator.health.isSuspect();

  function make(upstream: NamedUpstream, index: number): Validator {
    const { name, url } = upstream;
    const health = createHealth({
      settings: settings.health,
      mayEject: () => validators.some((other) => other !== validator && isSound(other)),
      onEjected(reason) {
        logger.warn({ validator: name, reason }, "validator ejected");
        onEjected(validator, reason);
      },
      onReadmitted() {
        logger.info({ validator: name }, "validator is back");
        for (const { latency } of validator.lanes) latency.reset();
      },
    });
    const validator = createValidator({ upstream, index, settings, health, room: receiving.forValidator() });
    urls.set(validator, url);
    return validator;
  }

  /** A new place first: what is left of an old one's calls may still name it. */
  function nextPlace(): number | undefined {
    return validators.length < validatorsMax ? validators.length : free.shift();
  }

  /** What of `next` is new, and which validators are not in it. */
  function compare(next: readonly NamedUpstream[]) {
    const isKept = (validator: Validator, { name, url, role }: NamedUpstream) =>
      validator.label === name && urls.get(validator) === url && validator.isReplica === (role === "replica");
    const configured = validators.filter(({ stay }) => stay === "configured");
    return {
      added: next.filter((upstream) => !configured.some((validator) => isKept(validator, upstream))),
      kept: next.flatMap((upstream) => {
        const validator = configured.find((other) => isKept(other, upstream));
        return validator === undefined ? [] : [{ validator, weight: upstream.weight ?? 1 }];
      }),
      left: configured.filter((validator) => !next.some((upstream) => isKept(validator, upstream))),
    };
  }

  function add(upstream: NamedUpstream): void {
    const place = nextPlace();
    if (place === undefined) throw new Error(`at most ${validatorsMax} validators can be asked`);
    validators[place] = make(upstream, place);
  }

  for (const upstream of upstreams) add(upstream);

  return {
    /** By their places. It is changed in place. */
    validators,

    /** Why these cannot be the validators now; undefined where they can. */
    problem(next: readonly NamedUpstream[]): string | undefined {
      const room = validatorsMax - validators.length + free.length;
      return compare(next).added.length <= room
        ? undefined
        : `at most ${validatorsMax} validators can be asked, those among them that still answer earlier calls; try again shortly`;
    },

    /** Makes these the validators: new ones get calls once they are known, others drain. */
    configure(next: readonly NamedUpstream[]): void {
      const { added, kept, left } = compare(next);
      for (const { validator, weight } of kept) validator.weight = weight;
      for (const validator of left) {
        validator.stay = "draining";
        logger.info({ validator: validator.label }, "validator is drained");
      }
      for (const upstream of added) {
        add(upstream);
        logger.info({ validator: upstream.name }, "validator added");
      }
    },

    /** It has nothing left to answer: its connections are closed. */
    remove(validator: Validator): void {
      validator.stay = "gone";
      urls.delete(validator);
      free.push(validator.index);
      for (const lane of validator.lanes) {
        for (const connection of lane.connections) dropConnection(lane, connection);
      }
      logger.info({ validator: validator.label }, "validator removed");
    },
  };
}

/** Nobody waits for anything of it any more. */
export function isDrained({ lanes }: Validator, nowMs: number): boolean {
  return lanes.every(
    ({ connections, directed }) =>
      directed.count() === 0 &&
      connections.every(
        ({ request, streamStalledMs }) =>
          request === undefined || (request.isAbandoned && streamStalledMs(nowMs) === undefined),
      ),
  );
}
