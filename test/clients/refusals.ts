import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import type { Test } from "tap";
import { waitFor } from "../helpers/wait-for.ts";
import { type Behaviour, behaviours, type ClientError, type ClientName, situations } from "./behaviours.ts";
import { countAnswers, describeAnswers, totalOf } from "./gateway-answers.ts";
import { memberAt } from "./member-at.ts";
import type { ClientRig } from "./rig.ts";
import { type Attempt, attemptsAt } from "./situations.ts";

/** A client library as its user has it: what its promises reject with is what the user gets. */
export type ClientUnderTest = {
  name: ClientName;
  open(connection: { url: string; key: string }): Promise<OpenedClient> | OpenedClient;
  /** The error's class with its code, and its headline. */
  describe(error: unknown): Pick<ClientError, "error" | "says">;
};

export type OpenedClient = {
  /** Reads a balance, in one call. */
  read(): Promise<unknown>;
  request(method: string): Promise<unknown>;
  /** Reads as many balances in one batch, where the client has batches. */
  readBatch?(count: number): Promise<unknown>;
  /** Reads a balance with headers that leave out the content type, where the client then sends none. */
  readWithOwnHeaders?(): Promise<unknown>;
  close?(): unknown;
};

/** A client waits about as long as the table says: more than this share of it, and no more than this beyond it. */
const waitShareMin = 0.7;
const slackMs = 15_000;
const quietMs = 1_500;

/** Brings about every situation that the table has for a client and asserts that it does what the table says. */
export async function testRefusals(t: Test, rig: ClientRig, client: ClientUnderTest): Promise<void> {
  const opened: OpenedClient[] = [];
  const rows = behaviours.filter((row) => row.client === client.name);
  t.not(rows.length, 0, "the table has rows of this client");
  for (const row of rows) {
    await t.test(`${client.name}: ${situations[row.situation]}`, async (t) => {
      for (const attempt of attemptsAt(row.situation, rig)) {
        opened.push(await testAttempt(t, { attempt, row, client }));
      }
    });
  }
  await t.test(`${client.name}: no request is made behind its user's back`, async (t) => {
    const count = async () => (await totalOf(rig.gateway)) + (await totalOf(rig.cutOff));
    const before = await count();
    // Nothing tells that a client is done: it is looked at for as long as its own pauses are.
    await sleep(quietMs);
    t.equal(await count(), before);
  });
  for (const { close } of opened) await close?.();
}

async function testAttempt(
  t: Test,
  { attempt, row, client }: { attempt: Attempt; row: Behaviour; client: ClientUnderTest },
): Promise<OpenedClient> {
  const { gateway, key, message } = attempt;
  const opened = await client.open({ url: gateway.url, key });
  await attempt.before?.(opened);
  const before = await countAnswers(gateway);
  const startedMs = performance.now();
  const ends = await attempt.call(opened).then(
    () => "success" as const,
    (error: unknown) => describeError({ error, row, client, attempt }),
  );
  const elapsedMs = performance.now() - startedMs;
  const answers = describeAnswers({ before, after: await countAnswers(gateway) });

  const { waitsSeconds } = row;
  t.same({ answers, ends }, { answers: row.answers, ends: row.ends }, message);
  const waitsMs = waitsSeconds * 1000;
  t.ok(elapsedMs > waitsMs * waitShareMin, `it waits ${waitsSeconds} s by itself (${elapsedMs} ms)`);
  t.ok(elapsedMs < waitsMs + slackMs, `it waits no longer than that (${elapsedMs} ms)`);
  if (row.goesOn) {
    const asked = await totalOf(gateway);
    await waitFor(`${message}: it goes on asking`, async () => (await totalOf(gateway)) > asked, {
      everyMs: 20,
    });
    await opened.close?.();
  }
  return opened;
}

function describeError({
  error,
  row: { ends },
  client,
  attempt: { message, method, gateway },
}: {
  error: unknown;
  row: Behaviour;
  client: ClientUnderTest;
  attempt: Attempt;
}): ClientError {
  const described = client.describe(error);
  const says = described.says
    .replace(/\{"jsonrpc".*\}/, "{answer}")
    .replace(message, "{message}")
    .replace(/\{["']code["']: ?["']\w+["'][^}]*\}/, "{data}")
    .replace(`"${method}"`, "{method}")
    .replace(new RegExp(`${gateway.url}?`), "{url}");
  const expectedAt = ends === "success" ? "nowhere" : ends.messageAt;
  const whole = inspect(error, { depth: 10, maxStringLength: null });
  const isRight =
    expectedAt === "nowhere"
      ? !whole.includes(message)
      : String(memberAt(error, expectedAt)).includes(message);
  return { error: described.error, says, messageAt: isRight ? expectedAt : `not there: ${whole}` };
}
