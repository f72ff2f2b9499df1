import type { Logger } from "pino";
import type { Answer, CallToForward } from "../call.ts";
import type { ForwardConfig } from "../config.ts";
import { readAnswer } from "../json-rpc/read-answer.ts";
import type { GatewayMetrics } from "../metrics.ts";
import { createValidator, type FailureReason, type Validator } from "./validator.ts";

export type Upstream = {
  /** Has a validator answer one call, within the method's time. Never throws. */
  ask(call: CallToForward): Promise<Answer | "unavailable">;
  /** Number of the latest block, at most `headAgeMsMax` old; undefined where no validator tells it. */
  headNumber(): Promise<bigint | undefined>;
  /** What each validator did last, for /status and /readyz. */
  status(): ValidatorStatus[];
  stop(): Promise<void>;
};

export type ValidatorStatus = {
  url: string;
  answering: boolean | "unknown";
  lastFailure: { reason: FailureReason; at: string } | null;
};

type Member = { validator: Validator; label: string; status: ValidatorStatus };

const headAgeMsMax = 1000;
const headTimeoutMs = 2000;

/**
 * The validators behind one door. A call goes to the validator that answered last; one that fails is passed over
 * for the next within the call's time. A call that changes the chain is passed on only where it cannot have arrived.
 */
export function createUpstream({
  urls,
  forward,
  logger,
  metrics,
  now,
}: {
  urls: readonly string[];
  forward: ForwardConfig;
  logger: Logger;
  metrics: Pick<GatewayMetrics, "validatorCalls" | "validatorFailures">;
  now: () => number;
}): Upstream {
  const members: Member[] = urls.map((url, index) => ({
    validator: createValidator({ url, forward }),
    label: String(index),
    status: { url: withoutCredentials(url), answering: "unknown", lastFailure: null },
  }));
  let preferred = 0;
  let lastId = 0;
  let head: { asked: number; number: Promise<bigint | undefined> } | undefined;

  /** One attempt at one validator. */
  async function attempt(member: Member, { rule, paramsText }: CallToForward, timeoutMs: number) {
    lastId += 1;
    const id = lastId;
    const body = `{"jsonrpc":"2.0","id":${id},"method":"${rule.name}","params":${paramsText}}`;
    metrics.validatorCalls.inc({ validator: member.label });
    const posted = await member.validator.post(Buffer.from(body, "latin1"), { timeoutMs });
    const answer = posted.kind === "answered" ? readAnswer(posted.body, id) : undefined;
    if (answer !== undefined) {
      member.status.answering = true;
      return { answer, mayHaveArrived: true };
    }
    const reason = posted.kind === "answered" ? "bad_answer" : posted.reason;
    metrics.validatorFailures.inc({ validator: member.label, reason });
    if (member.status.answering !== false)
      logger.warn({ validator: member.status.url, reason }, "validator failed");
    member.status.answering = false;
    member.status.lastFailure = { reason, at: new Date(now()).toISOString() };
    return { answer: undefined, mayHaveArrived: posted.kind === "answered" || posted.mayHaveArrived };
  }

  const ask: Upstream["ask"] = async (call) => {
    const deadline = now() + call.rule.timeoutMs;
    const first = preferred;
    for (let tried = 0; tried < members.length; tried += 1) {
      const index = (first + tried) % members.length;
      const member = members[index];
      const leftMs = deadline - now();
      if (member === undefined || leftMs <= 0) break;
      // What is left is shared out among those not yet asked, so that one that hangs leaves time for the next.
      const { answer, mayHaveArrived } = await attempt(
        member,
        call,
        Math.ceil(leftMs / (members.length - tried)),
      );
      if (answer !== undefined) {
        if (index !== first) preferred = index;
        return answer;
      }
      if (mayHaveArrived && !call.rule.mayAskAgain) break;
    }
    return "unavailable";
  };

  return {
    ask,
    headNumber() {
      if (head === undefined || now() - head.asked > headAgeMsMax) {
        head = { asked: now(), number: ask(blockNumberCall).then(quantityOf) };
      }
      return head.number;
    },
    status: () => members.map(({ status }) => ({ ...status })),
    async stop() {
      await Promise.all(members.map(({ validator }) => validator.stop()));
    },
  };
}

const blockNumberCall: CallToForward = {
  kind: "forward",
  paramsText: "[]",
  rule: {
    name: "eth_blockNumber",
    permission: "rpc",
    cost: 0,
    cache: "never",
    lane: "light",
    timeoutMs: headTimeoutMs,
    mayAskAgain: true,
    block: undefined,
    blocksMax: undefined,
  },
};

function quantityOf(answer: Answer | "unavailable"): bigint | undefined {
  if (answer === "unavailable") return undefined;
  const response: unknown = JSON.parse(`${answer.beforeId}0${answer.afterId}`);
  if (typeof response !== "object" || response === null || !("result" in response)) return undefined;
  const { result } = response;
  return typeof result === "string" && /^0x[0-9a-f]{1,16}$/i.test(result) ? BigInt(result) : undefined;
}

function withoutCredentials(url: string): string {
  const parsed = new URL(url);
  parsed.username = "";
  parsed.password = "";
  parsed.search = "";
  return parsed.href.replace(/\/$/, "");
}
