import { type Answer, answerText, besuErrors, refused } from "./besu-errors.ts";
import { type RpcBody, type RpcCall, type RpcItem, wholeBodyError } from "./besu-framing.ts";
import type { Handlers } from "./chain-methods.ts";
import { delay } from "./delay.ts";
import type { Faults } from "./faults.ts";
import type { Lies } from "./lies.ts";
import { refuseMethod } from "./node-methods.ts";

export type AnswerCall = (call: RpcCall) => Answer | Promise<Answer>;
export type BodyAnswer = { status: number; text: string };

/** The way of one call: its delay, what a test put in its place, the handler. */
export function createAnswerCall({
  faults,
  handlers,
  foreignHandlers,
  lies,
}: {
  faults: Faults;
  handlers: Handlers;
  foreignHandlers: (chainId: number) => Handlers;
  lies: Lies;
}): AnswerCall {
  function now({ method, params }: RpcCall): Answer | Promise<Answer> {
    const replaced = faults.overrides.get(method)?.(params);
    if (replaced !== undefined) return replaced;
    const lied = faults.lie === undefined ? undefined : lies.answer(faults.lie, method, params);
    if (lied !== undefined) return lied;
    const { foreignChainId } = faults;
    const foreign = foreignChainId === undefined ? undefined : own(foreignHandlers(foreignChainId), method);
    const handler = foreign ?? own(handlers, method);
    return handler === undefined ? refuseMethod(method) : handler(params);
  }

  return (call) => {
    if (faults.poison?.(call)) return refused(besuErrors.invalidParams);
    const ended = faults.endedBy?.(call);
    if (ended !== undefined) return ended;
    const delayMs = faults.methodDelaysMs.get(call.method) ?? 0;
    return delayMs === 0 ? now(call) : delay(delayMs).then(() => now(call));
  };
}

function own(handlers: Handlers, method: string) {
  return Object.hasOwn(handlers, method) ? handlers[method] : undefined;
}

/** Answers a body as Besu does: an array's calls one after the other, notifications without a word. */
export async function answerBody(body: RpcBody, answerCall: AnswerCall, faults: Faults): Promise<BodyAnswer> {
  switch (body.kind) {
    case "refused":
      return body;
    case "single":
      return await answerSingle(body.item, answerCall, faults);
    case "array":
      return { status: 200, text: await answerArray(body.items, answerCall, faults) };
  }
}

async function answerSingle(item: RpcItem, answerCall: AnswerCall, faults: Faults): Promise<BodyAnswer> {
  if ("refused" in item) {
    const { idText, error } = item.refused;
    const status = error.code === besuErrors.invalidRequest.code ? 400 : 200;
    return { status, text: answerText(idText, { error }) };
  }
  const answer = await answerCall(item.call);
  if (item.call.idText === undefined) return { status: 200, text: "" };
  const text = answerText(echo(item.call.idText, faults), answer);
  // A single answer has no neighbours to be missing from: it comes without its id.
  return { status: 200, text: faults.missingId ? text.replace(/"id":[^,]*,/, "") : text };
}

async function answerArray(items: RpcItem[], answerCall: AnswerCall, faults: Faults): Promise<string> {
  if (faults.arraysRefused || items.some((item) => "call" in item && faults.poison?.(item.call))) {
    return wholeBodyError(besuErrors.invalidRequest);
  }
  prepare(items, answerCall, faults);
  const texts: string[] = [];
  for (const item of items) {
    if ("refused" in item) {
      texts.push(answerText(item.refused.idText, { error: item.refused.error }));
      continue;
    }
    const given = answerCall(item.call);
    // Without a promise there is nothing to wait for, and 64 turns of the event loop to save.
    const answer = given instanceof Promise ? await given : given;
    if (item.call.idText !== undefined) texts.push(answerText(echo(item.call.idText, faults), answer));
  }
  if (faults.missingId) texts.splice(Math.floor(texts.length / 2), 1);
  if (faults.reordered) texts.reverse();
  return `[${texts.join(",")}]`;
}

const stateMethod = /^eth_(getBalance|getCode|getTransactionCount|getStorageAt|call)$/;

/**
 * Asks anvil for the array's plain reads together, beforehand: the answers wait in the state reader's memory. Seen
 * from outside the calls still run in their order; only the stand-in's own way to anvil is shorter.
 */
function prepare(items: RpcItem[], answerCall: AnswerCall, faults: Faults): void {
  if (faults.overrides.size > 0 || faults.methodDelaysMs.size > 0) return;
  for (const item of items) {
    if ("call" in item && stateMethod.test(item.call.method)) void answerCall(item.call);
  }
}

function echo(idText: string, faults: Faults): string {
  return faults.wrongIds ? `"not-${idText.replaceAll('"', "")}"` : idText;
}
