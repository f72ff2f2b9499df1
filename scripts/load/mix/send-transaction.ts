import { isAddress } from "ethers/address";
import { isHexString } from "ethers/utils";
import { z } from "zod";
import type { Clock } from "../drive/clock.ts";
import type { Dispatcher } from "../drive/dispatcher.ts";
import type { Recorder } from "../record/recorder.ts";
import { compileSingle } from "./compile-request.ts";
import { fateOfSend } from "./fate-of-send.ts";
import type { SendFields } from "./mix-schema.ts";
import type { Senders } from "./senders.ts";
import { signTransfer } from "./sign-transfer.ts";
import { drawnOnce, fillText, type Scope } from "./template.ts";

/** Sends from one of the own accounts: the hash, or "failed" where it was not sent, refused or not mined. */
export type SendTransaction = (
  fields: SendFields,
  scope: Scope,
  intendedMs: number,
  tag?: string,
) => Promise<{ result: string } | "failed" | "no value">;

const sendMethod = "eth_sendRawTransaction";
const receiptSchema = z.object({ status: z.string() });

/** Signs, sends and, where the mix wishes it, waits for the receipt. Every call of it goes through the dispatcher. */
export function createSendTransaction({
  senders,
  dispatcher,
  recorder,
  clock,
  chainId,
  gasPriceWei,
  receiptTimeoutMs,
  receiptPollMs,
  hasEnded,
}: {
  senders: Senders;
  dispatcher: Pick<Dispatcher, "request">;
  recorder: Pick<Recorder, "notSent" | "cutOff" | "mined">;
  clock: Pick<Clock, "now" | "sleep">;
  chainId: bigint;
  gasPriceWei: bigint;
  receiptTimeoutMs: number;
  receiptPollMs: number;
  /** The run was ended early. */
  hasEnded: () => boolean;
}): SendTransaction {
  let lastId = 0;
  const nextId = () => {
    lastId += 1;
    return lastId;
  };
  const askReceipt = compileSingle(
    { call: "eth_getTransactionReceipt", params: ["$hash"], expect: ["object", "null"] },
    nextId,
  );

  async function waitForReceipt(hash: string, sinceMs: number): Promise<boolean> {
    for (;;) {
      await clock.sleep(receiptPollMs);
      if (hasEnded()) return false;
      const request = askReceipt(() => hash);
      const outcome = request && (await dispatcher.request(request, clock.now()));
      const receipt = receiptSchema.safeParse(outcome?.ok === true ? outcome.results[0] : undefined).data;
      const latencyMs = clock.now() - sinceMs;
      if (receipt !== undefined) {
        const isDone = receipt.status === "0x1";
        recorder.mined({ latencyMs, ...(isDone ? {} : { fault: `reverted (status ${receipt.status})` }) });
        return isDone;
      }
      if (latencyMs >= receiptTimeoutMs) {
        recorder.mined({ latencyMs, fault: `no receipt within ${receiptTimeoutMs / 1000} s` });
        return false;
      }
    }
  }

  return async (fields, scope, intendedMs, tag) => {
    const values = drawnOnce(scope);
    const to = fillText(fields.to, values);
    const data = fillText(fields.data, values);
    if (!isAddress(to) || !isHexString(data)) return "no value";
    const sender = await senders.acquire();
    if (sender === undefined) {
      if (hasEnded()) recorder.cutOff(1);
      else {
        recorder.notSent({
          label: sendMethod,
          tag,
          calls: 1,
          why: "no free sender",
          latencyMs: clock.now() - intendedMs,
        });
      }
      return "failed";
    }
    const { raw, hash } = signTransfer(sender.key, {
      to,
      data,
      valueWei: BigInt(fields.valueWei),
      gas: fields.gas,
      nonce: sender.nonce,
      gasPriceWei,
      chainId,
    });
    const request = compileSingle(
      { call: sendMethod, params: [raw], expect: ["hash"], equals: hash },
      nextId,
    )(() => undefined);
    // It has no placeholder, so there is one.
    if (request === undefined) throw new Error("a signed transaction is no request");
    const fate = fateOfSend(await dispatcher.request({ ...request, tag }, intendedMs));
    senders.release(sender, fate);
    if (fate !== "accepted") return "failed";
    const isDone = fields.wait === "hash" || (await waitForReceipt(hash, intendedMs));
    return isDone ? { result: hash } : "failed";
  };
}
