import { setTimeout as sleep } from "node:timers/promises";
import { Wallet } from "ethers/wallet";
import { z } from "zod";
import type { CrashReplica } from "../crash-replica.ts";

/** A wallet that buys a key by the published interface, again and again until it has it. */
export type KeyBuyer = {
  /** Orders, pays and asks for the key. */
  buy(): Promise<void>;
  /** Asks for the same key at both replicas at once. */
  askTwice(): Promise<void>;
  found: BuyerFindings;
};

export type BuyerFindings = {
  /** Orders that were paid, by their id. */
  paid: Set<string>;
  /** Each secret that was answered, by its order. */
  secrets: Map<string, Set<string>>;
};

const base = "/api/v1/svc-dev";
const retryMs = 40;
/** For one order, shared out over the replicas. */
const callsAtOnce = 6;
const answerWithinMs = 10_000;

const nonceAnswer = z.record(z.string(), z.union([z.string(), z.number()]));
const sessionAnswer = z.object({ token: z.string() });
const orderAnswer = z.object({
  order: z.object({ id: z.string(), transaction: z.looseObject({ to: z.string() }) }),
});
const keyAnswer = z.object({ key: z.object({ id: z.string(), secret: z.string() }) });

export function createKeyBuyer({
  replicas,
  privateKey,
  send,
  giveUpMs,
}: {
  replicas: readonly CrashReplica[];
  privateKey: string;
  /** Sends a transaction; answers when it is mined. */
  send: (transaction: object) => Promise<void>;
  /** What is not done by then will not be. */
  giveUpMs: number;
}): KeyBuyer {
  const wallet = new Wallet(privateKey);
  const found: BuyerFindings = { paid: new Set(), secrets: new Map() };
  let token: string | undefined;
  let turn = 0;
  let orderId: string | undefined;

  /** One request to one replica; undefined where none answered it. */
  async function post(path: string, body: object, replica?: CrashReplica) {
    turn += 1;
    const url = (replica ?? replicas[turn % replicas.length])?.url();
    if (url === undefined) return undefined;
    try {
      const response = await fetch(`${url}${base}${path}`, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(answerWithinMs),
      });
      const json: unknown = await response.json();
      return { status: response.status, json };
    } catch {
      return undefined;
    }
  }

  async function signIn(): Promise<void> {
    const nonce = nonceAnswer.safeParse((await post("/session/nonce", {}))?.json).data;
    if (nonce?.["nonce"] === undefined) return;
    const message = [
      `${nonce["domain"]} wants you to sign in with your Ethereum account:`,
      ...[wallet.address, "", nonce["statement"], ""],
      ...[`URI: ${nonce["uri"]}`, "Version: 1", `Chain ID: ${nonce["chainId"]}`, `Nonce: ${nonce["nonce"]}`],
      ...[`Issued At: ${nonce["issuedAt"]}`, `Expiration Time: ${nonce["expirationTime"]}`],
    ].join("\n");
    const signature = await wallet.signMessage(message);
    token = sessionAnswer.safeParse((await post("/session", { message, signature }))?.json).data?.token;
  }

  function note(order: string, answer: Awaited<ReturnType<typeof post>>): boolean {
    if (answer?.status !== 201) return false;
    const { secret } = keyAnswer.parse(answer.json).key;
    found.secrets.set(order, (found.secrets.get(order) ?? new Set()).add(secret));
    return true;
  }

  async function until(what: string, done: () => Promise<boolean>): Promise<void> {
    const endMs = performance.now() + giveUpMs;
    while (!(await done())) {
      if (performance.now() > endMs) throw new Error(`not within ${giveUpMs} ms: ${what}`);
      await sleep(retryMs);
    }
  }

  const askAtBoth = async (order: string) => {
    const asked = Array.from({ length: callsAtOnce }, (_, call) => replicas[call % replicas.length]);
    const answers = await Promise.all(asked.map((replica) => post("/keys", { orderId: order }, replica)));
    // An answer that is lost on the way is asked for again: it has to be the same.
    return answers.map((answer) => note(order, answer)).includes(true);
  };

  return {
    found,
    async buy() {
      await until("a wallet is signed in", async () => {
        if (token === undefined) await signIn();
        return token !== undefined;
      });
      await until("a key is ordered", async () => {
        const answer = await post("/keys", { package: "monthly" });
        const ordered = answer?.status === 402 ? orderAnswer.safeParse(answer.json).data : undefined;
        if (ordered === undefined) return false;
        orderId = ordered.order.id;
        found.paid.add(orderId);
        await send(ordered.order.transaction);
        return true;
      });
      const order = orderId ?? "";
      await until("a paid key is issued", () => askAtBoth(order));
    },
    async askTwice() {
      if (orderId !== undefined && found.secrets.has(orderId)) await askAtBoth(orderId);
    },
  };
}
