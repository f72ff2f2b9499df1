import type { AnnouncedChain } from "./announced-chain.ts";
import type { HeadUpdate, Lookup, Probe, ProbeFailure } from "./head-update.ts";
import type { Header } from "./read-header.ts";
import type { FarTip, TrackedValidator } from "./validator.ts";

/** Takes in what validators report, and returns what follows from it. Times are monotonic milliseconds. */
export function createHeadReports({
  validators,
  chain,
  settle,
}: {
  validators: ReadonlyMap<string, TrackedValidator>;
  chain: AnnouncedChain;
  settle: (nowMs: number, lookups?: Lookup[]) => HeadUpdate;
}) {
  return {
    probed(label: string, probe: Probe, nowMs: number): HeadUpdate {
      const validator = validators.get(label);
      if (validator === undefined) return settle(nowMs);
      noteIdentity(validator, probe, nowMs);
      const { tip } = validator;
      // A head that came over the WebSocket after the probe left may be newer than the probe's answer.
      const isOld = tip !== undefined && tip.seenAtMs > probe.sentAtMs && probe.number < tip.header.number;
      if (isOld) return settle(nowMs);
      if (probe.latest === undefined) {
        const differs = tip?.header.number !== probe.number;
        return settle(nowMs, differs ? [{ kind: "probe", label }] : []);
      }
      setTip(validator, probe.latest, nowMs);
      return settle(nowMs);
    },

    /** A header that the validator sent by itself. One that is not above its tip proves nothing alone. */
    headed(label: string, header: Header, nowMs: number): HeadUpdate {
      const validator = validators.get(label);
      if (validator === undefined) return settle(nowMs);
      validator.answeredAtMs = nowMs;
      const tip = validator.tip?.header;
      if (tip === undefined || header.number > tip.number) {
        setTip(validator, header, nowMs);
        return settle(nowMs);
      }
      const isKnown = header.hash === tip.hash || chain.knows(label, header);
      return settle(nowMs, isKnown ? [] : [{ kind: "probe", label }]);
    },

    failed(label: string, { reason, isUnreadable }: ProbeFailure, nowMs: number): HeadUpdate {
      const validator = validators.get(label);
      if (validator !== undefined) {
        validator.probed = true;
        validator.failures += 1;
        validator.problem = reason;
        validator.isUnreadable = isUnreadable;
      }
      return settle(nowMs);
    },

    /** The headers of a "fill" lookup. */
    filled(label: string, headers: readonly Header[], nowMs: number): HeadUpdate {
      for (const header of headers) chain.offer(label, header, nowMs);
      return settle(nowMs);
    },

    /**
     * The headers of a "verify" lookup: a far validator's block at the head's number and at its own tip's, since only both
     * together tie one to the other; and its block where another far tip is.
     */
    verified(label: string, [atHead, atTip, atOther]: readonly Header[], nowMs: number): HeadUpdate {
      const validator = validators.get(label);
      const expected = atHead === undefined ? undefined : chain.hashOf(atHead.number);
      if (validator?.far === undefined || atHead === undefined || expected === undefined)
        return settle(nowMs);
      if (atTip?.hash !== validator.tip?.header.hash) return settle(nowMs, [{ kind: "probe", label }]);
      const isSame = atHead.hash === expected;
      validator.far.sameAt = isSame ? atHead.number : undefined;
      validator.far.otherAt = isSame ? undefined : atHead.number;
      if (atOther !== undefined) validator.far.also = { number: atOther.number, hash: atOther.hash };
      return settle(nowMs);
    },
  };
}

function noteIdentity(validator: TrackedValidator, probe: Probe, nowMs: number): void {
  validator.probed = true;
  validator.failures = 0;
  validator.answeredAtMs = nowMs;
  validator.chainId = probe.chainId;
  validator.problem = undefined;
  validator.isUnreadable = false;
  validator.genesisHash = probe.genesis.hash;
  // The same block stays the same object, because proofs are remembered by the object.
  if (validator.genesis?.hash === probe.genesis.hash) return;
  validator.genesis = probe.genesis;
  // Its earlier blocks are of the chain that it was on.
  validator.tip = undefined;
  validator.far = undefined;
}

function setTip(validator: TrackedValidator, header: Header, nowMs: number): void {
  const before = validator.tip?.header;
  if (before?.hash === header.hash) return;
  // What is known of the earlier tip says nothing about one that is not its child.
  if (validator.far !== undefined && header.parentHash !== before?.hash) {
    const unknown: FarTip = { ...validator.far, sameAt: undefined, otherAt: undefined, also: undefined };
    validator.far = unknown;
  }
  validator.tip = { header, seenAtMs: nowMs };
}
