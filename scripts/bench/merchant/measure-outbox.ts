import { performance } from "node:perf_hooks";
import { pino } from "pino";
import { Agent, request } from "undici";
import type { Sealer } from "../../../api/merchant/secrets/sealer.ts";
import { createDeliveryWorker } from "../../../api/merchant/webhooks/delivery-worker.ts";
import { isPublicOrLoopback } from "../../../api/merchant/webhooks/public-address.ts";
import { createWebhookSender } from "../../../api/merchant/webhooks/send-webhook.ts";
import { signWebhook } from "../../../api/merchant/webhooks/sign-webhook.ts";
import { createPostgresPool, type PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { onlyRow, readInteger } from "../../../lib/postgres/row.ts";
import { until } from "../../soak/follower-crashes/until.ts";
import { childrenOf, cpuSeconds } from "../gateway/process-usage.ts";
import { addEndpoint, addEvents } from "./fill-outbox.ts";
import type { Receivers } from "./start-receivers.ts";

const endpointsCount = 32;
const eventsPerEndpoint = 150;
/** As many as the outbox has under way. */
const atOnce = 64;
const withinMs = 300_000;
const logger = pino({ level: "silent" });

export type OutboxResult = {
  deliveries: number;
  aSecond: number;
  /** CPU seconds for 1 000. */
  nodeSeconds: number;
  postgresSeconds: number;
};

/**
 * Delivers some thousand events to receivers that answer at once, over their whole way: claimed, signed, sent, written down.
 *
 * @throws Error where an event did not arrive, or arrived twice.
 */
export async function measureOutbox({
  db,
  postgresUrl,
  postgresPid,
  receivers,
  sealer,
  name,
}: {
  db: PostgresPool;
  postgresUrl: string;
  postgresPid: number;
  receivers: Receivers;
  sealer: Sealer;
  /** Of the receivers' paths: another one each time. */
  name: string;
}): Promise<OutboxResult> {
  const pathOf = (index: number) => `/quick/${name}/${index}`;
  for (let index = 0; index < endpointsCount; index += 1) {
    const { wallet } = await addEndpoint(db, { url: `${receivers.url}${pathOf(index)}`, sealer });
    await addEvents(db, { wallet, count: eventsPerEndpoint });
  }
  await db.query("vacuum analyze svc.webhook_deliveries, svc.webhook_events, svc.webhook_endpoints");
  const deliveries = endpointsCount * eventsPerEndpoint;
  const pool = createPostgresPool({ url: postgresUrl, name: "outbox", logger, connectionsMax: 4 });
  let delivered = 0;
  const worker = createDeliveryWorker({
    ...{ pool, sealer, logger, now: Date.now },
    sender: createWebhookSender({ httpsOnly: false, isAllowed: isPublicOrLoopback, now: Date.now }),
    onAttempt(outcome) {
      if (outcome === "delivered") delivered += 1;
    },
  });
  const measured = await measure(postgresPid, deliveries, async () => {
    worker.start();
    await until("all are delivered", () => delivered >= deliveries, { withinMs });
  });
  await worker.stop();
  await pool.end();
  const counts = await receivers.counts();
  for (let index = 0; index < endpointsCount; index += 1) {
    const { requests, events } = counts[pathOf(index)] ?? { requests: 0, events: 0 };
    if (requests !== eventsPerEndpoint || events !== eventsPerEndpoint) {
      throw new Error(
        `receiver ${index} got ${events} events of ${eventsPerEndpoint} in ${requests} requests`,
      );
    }
  }
  const { rows } = await db.query(
    "select count(*)::int as open from svc.webhook_deliveries join svc.webhook_endpoints e on e.id = endpoint_id where url like $1 and (state <> 'delivered' or attempts <> 1)",
    [`%/quick/${name}/%`],
  );
  const open = readInteger(onlyRow(rows), "open");
  if (open !== 0) throw new Error(`${open} deliveries are not written down as what they were`);
  return measured;
}

/**
 * The ceiling: the same requests out of memory by undici alone, as many at once, signed, with nothing claimed and nothing written
 * down.
 */
export async function measureBareLoop({
  receivers,
  postgresPid,
  keepAlive,
}: {
  receivers: Receivers;
  postgresPid: number;
  keepAlive: boolean;
}): Promise<OutboxResult> {
  const deliveries = endpointsCount * eventsPerEndpoint;
  const agent = new Agent(keepAlive ? { connections: atOnce } : { pipelining: 0 });
  const path = `/quick/bare-${keepAlive}`;
  const data = { payment: { amount: "1", txHash: `0x${"ab".repeat(32)}`, orderId: "x".repeat(200) } };
  const secrets = { current: `whsec_${Buffer.alloc(32, 7).toString("base64")}`, next: undefined };
  let next = 0;
  async function post(): Promise<void> {
    for (let number = next++; number < deliveries; number = next++) {
      const id = `evt_${number}`;
      const body = JSON.stringify({ type: "payment.completed", id, sequence: number, data });
      const atUnix = Math.floor(Date.now() / 1000);
      const headers = signWebhook({ id, type: "payment.completed", body, secrets, atUnix });
      const answer = await request(`${receivers.url}${path}`, {
        method: "POST",
        headers,
        body,
        dispatcher: agent,
      });
      if (answer.statusCode !== 204) throw new Error(`a receiver answered ${answer.statusCode}`);
      await answer.body.dump();
    }
  }
  const measured = await measure(postgresPid, deliveries, async () => {
    await Promise.all(Array.from({ length: atOnce }, post));
  });
  await agent.close();
  const { events } = (await receivers.counts())[path] ?? { events: 0 };
  if (events !== deliveries) throw new Error(`${events} events of ${deliveries} arrived`);
  return measured;
}

async function measure(
  postgresPid: number,
  deliveries: number,
  work: () => Promise<void>,
): Promise<OutboxResult> {
  const pids = () => [postgresPid, ...childrenOf(postgresPid)];
  const [node, postgres, ms] = [process.cpuUsage(), cpuSeconds(pids()), performance.now()];
  await work();
  const used = process.cpuUsage(node);
  return {
    deliveries,
    aSecond: (deliveries / (performance.now() - ms)) * 1000,
    nodeSeconds: ((used.user + used.system) / 1e6 / deliveries) * 1000,
    postgresSeconds: ((cpuSeconds(pids()) - postgres) / deliveries) * 1000,
  };
}
