import { performance } from "node:perf_hooks";
import { readDashboard } from "../../../api/merchant/dashboard/read-dashboard.ts";
import { listInvoices } from "../../../api/merchant/invoices/invoice-store.ts";
import { listDeliveries } from "../../../api/merchant/webhooks/delivery-log.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { childrenOf, cpuSeconds } from "../gateway/process-usage.ts";
import { fillBooks } from "./fill-books.ts";

const rounds = 200;
const pageRows = 20;
const goalMs = 25;

/** `cpuMs`: of this process and of PostgreSQL, for one call. */
export type ListResult = { name: string; p50Ms: number; p99Ms: number; cpuMs: number };

/**
 * What lists of one wallet with 10 000 invoices and 100 000 deliveries take, from the call to the parsed rows.
 *
 * @throws Error where an answer is not what was written.
 */
export async function measureLists({
  db,
  postgresPid,
}: {
  db: PostgresPool;
  postgresPid: number;
}): Promise<ListResult[]> {
  const { wallet, invoices, deliveries } = await fillBooks(db);
  const page = { wallet, count: pageRows };
  const all = await listInvoices(db, { wallet, filter: {}, before: undefined, count: invoices + 1 });
  const deep = all[Math.floor(invoices * 0.9)];
  if (all.length !== invoices || deep === undefined) throw new Error(`${all.length} invoices of ${invoices}`);
  const before = { createdAtMicros: deep.createdAtMicros, id: deep.id };
  const day = deep.createdAt.toISOString().slice(0, 10);
  const expect = async (name: string, rows: readonly unknown[], count: number) => {
    if (rows.length !== count) throw new Error(`${name}: ${rows.length} rows of ${count}`);
  };
  const invoicePage = (filter: Parameters<typeof listInvoices>[1]["filter"], cursor?: typeof before) => () =>
    listInvoices(db, { ...page, filter, before: cursor });
  const log = (more: { before?: number; state?: "dead" | "waiting" }) => async () =>
    (await listDeliveries(db, { wallet, limit: pageRows, ...more })).data;
  const works: { name: string; rows: number; work: () => Promise<readonly unknown[]> }[] = [
    { name: "invoices, first page", rows: pageRows, work: invoicePage({}) },
    { name: "invoices, after 9 000", rows: pageRows, work: invoicePage({}, before) },
    { name: "invoices of a state, one in 100", rows: pageRows, work: invoicePage({ state: "underpaid" }) },
    { name: "invoices of a state, none", rows: 0, work: invoicePage({ state: "overpaid" }) },
    { name: "an invoice by its reference", rows: 1, work: invoicePage({ reference: "order 77" }) },
    { name: "invoices of a day", rows: pageRows, work: invoicePage({ from: day, to: day }) },
    { name: "deliveries, first page", rows: pageRows, work: log({}) },
    { name: "deliveries, after 90 000", rows: pageRows, work: log({ before: deliveries / 10 }) },
    { name: "deliveries that are dead, one in 1 000", rows: pageRows, work: log({ state: "dead" }) },
    { name: "deliveries that wait, none", rows: 0, work: log({ state: "waiting" }) },
  ];
  const results: ListResult[] = [];
  for (const { name, rows, work } of works) {
    await expect(name, await work(), rows);
    results.push(await time(name, work, postgresPid));
  }
  const dashboard = () => readDashboard({ db, wallet, activeKeysMax: 5, nowMs: Date.now() });
  const { paid, underpaid } = (await dashboard()).invoices;
  if (paid + underpaid !== invoices) throw new Error(`a dashboard of ${paid} and ${underpaid} invoices`);
  results.push(await time("dashboard", dashboard, postgresPid));
  return results;
}

async function time(name: string, work: () => Promise<unknown>, postgresPid: number): Promise<ListResult> {
  const postgresSeconds = () => cpuSeconds([postgresPid, ...childrenOf(postgresPid)]);
  const before = { node: process.cpuUsage(), postgres: postgresSeconds() };
  const tookMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedMs = performance.now();
    await work();
    tookMs.push(performance.now() - startedMs);
  }
  const { user, system } = process.cpuUsage(before.node);
  const cpuMs = ((user + system) / 1000 + (postgresSeconds() - before.postgres) * 1000) / rounds;
  const sorted = tookMs.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.ceil(share * rounds) - 1] ?? 0;
  return { name, p50Ms: at(0.5), p99Ms: at(0.99), cpuMs };
}

export function printLists(results: readonly ListResult[]): void {
  for (const { name, p50Ms, p99Ms, cpuMs } of results) {
    const verdict = p99Ms <= goalMs ? "" : `  above ${goalMs} ms`;
    process.stdout.write(
      `${name.padEnd(40)} p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, CPU ${cpuMs.toFixed(2)} ms${verdict}\n`,
    );
  }
}
