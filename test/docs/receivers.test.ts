import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { z } from "zod";
import { invoiceRecord } from "../../api/merchant/invoices/invoice-record.ts";
import { plainSignature, signWebhook } from "../../api/merchant/webhooks/sign-webhook.ts";
import { webhookWithSecret } from "../../api/merchant/webhooks/webhook-record.ts";
import { createWebhookSecret } from "../../api/merchant/webhooks/webhook-secret.ts";
import { findProgram } from "../../scripts/processes/find-program.ts";
import { runChild } from "../../scripts/processes/run-child.ts";
import { send } from "../api/merchant/support/sign-in.ts";
import { buyKey, newcomer, orderWebhook, payOrder, startShop } from "../api/merchant/support/start-shop.ts";
import { startReceiver } from "../api/merchant/webhooks/support/start-receiver.ts";
import { bob } from "../api/support/start-world.ts";
import { runCommand } from "../helpers/run-command.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";

t.setTimeout(300_000);
const folder = fileURLToPath(new URL("../../docs/receivers/", import.meta.url));
const built = testFolder(t);

/** What `.ci/run` installs; elsewhere it may be missing, and its receiver is left out. */
async function find(program: string): Promise<string | undefined> {
  const path = await findProgram({ names: [program], path: process.env["PATH"] });
  if (path === undefined && process.env["CI"])
    throw new Error(`${program} is not installed, which .ci/run does`);
  return path;
}

async function buildGo(): Promise<readonly string[] | undefined> {
  const go = await find("go");
  if (go === undefined) return undefined;
  const args = ["build", "-o", `${built}/receiver`, `${folder}receiver.go`];
  const { code, lines } = await runCommand(t, { program: go, args, withinMs: 200_000 });
  if (code !== 0) throw new Error(lines.join("\n"));
  return [`${built}/receiver`];
}

const python = await find("python3");
const languages: Record<string, readonly string[] | undefined> = {
  TypeScript: [process.execPath, "--disable-warning=ExperimentalWarning", `${folder}receiver.ts`],
  Python: python === undefined ? undefined : [python, "-I", `${folder}receiver.py`],
  Go: await buildGo(),
};

/** A receiver of the documents, as somebody starts it who has copied it. */
async function startCopy(t: Test, [program = "", ...args]: readonly string[], secrets: readonly string[]) {
  const lines: string[] = [];
  const env = { ...process.env, NODE_OPTIONS: "", WEBHOOK_SECRET: secrets.join(","), PORT: "0" };
  const child = await runChild({ name: "receiver", program, args, env, onLine: (line) => lines.push(line) });
  if ("failed" in child) throw new Error(child.failed);
  t.teardown(() => child.running() && child.kill());
  const url = await waitFor("it listens", () => /^listening on (http:\S+)/.exec(lines[0] ?? "")?.[1]);
  return { url, taken: () => lines.slice(1) };
}

const shop = await startShop(t, {
  change: (config) => ({
    ...config,
    limits: { ...config.limits, points: 100_000 },
    svcDev: { ...config.svcDev, webhooks: { ...config.svcDev.webhooks, testsPerMinute: 1000 } },
  }),
});
const { api, anvil } = shop;
const root = "/api/v1/svc-dev/webhooks";
const withSecret = z.object({ webhook: webhookWithSecret });
const tested = z.object({ attempt: z.object({ status: z.number().nullable() }) });

const deliveries = z.object({ data: z.array(z.object({ attempts: z.number(), state: z.string() })) });

/** A merchant with a webhook, whose URL it moves from one receiver to the next. */
async function startMerchant(url: string) {
  const { headers } = await newcomer(api);
  const post = (path: string, body: object = {}) => send(api, `${root}${path}`, { headers, body });
  const order = await orderWebhook(api, headers, url);
  await payOrder(anvil, order);
  const saved = await waitFor("the fee is booked", async () => {
    const answer = await post("", { url, orderId: order.id });
    return answer.status === 201 && answer;
  });
  const key = { "X-Svc-Dev-Key": (await buyKey(shop, headers)).secret };
  return {
    secret: withSecret.parse(saved.json).webhook.secret,
    ...{ headers, post },
    /** Sends a test to a URL; the status that its receiver answers. */
    async test(at: string) {
      await post("", { url: at });
      return tested.parse((await post("/test")).json).attempt.status;
    },
    /** Waits until both events of its invoice have been sent so often, and what came of it is written down. */
    delivered: (times: number) =>
      waitFor("they are delivered", async () => {
        const { data } = deliveries.parse((await api.get(`${root}/deliveries`, headers)).json);
        return (
          data.filter(({ attempts, state }) => attempts === times && state === "delivered").length >= 2 &&
          data.every(({ state }) => state !== "waiting")
        );
      }),
    async payInvoice() {
      const body = { amountIdr: 150_000, note: "Rp\u00a0150.000 — kain 🧺" };
      const made = await send(api, "/api/v1/svc-dev/v1/invoices", { headers: key, body });
      const { invoice } = z.object({ invoice: invoiceRecord }).parse(made.json);
      const value = `0x${BigInt(invoice.amountWei).toString(16)}`;
      await anvil.rpc("eth_sendTransaction", [{ from: bob, to: invoice.depositAddress, value }]);
    },
  };
}

for (const [language, command] of Object.entries(languages)) {
  const skip = command === undefined && `what runs ${language} is not installed: .ci/run says how`;

  t.test(`${language}: takes every event once, from the worker itself`, { skip }, async (t) => {
    const record = await startReceiver(t);
    const merchant = await startMerchant(record.url);
    const copy = await startCopy(t, command ?? [], [merchant.secret]);
    t.equal(await merchant.test(copy.url), 204);
    await merchant.payInvoice();
    await waitFor("all are taken", () => copy.taken().length === 3);
    t.same(
      copy
        .taken()
        .map((line) => line.replace(/ \d+ evt_[0-9A-Za-z]{22}$/, ""))
        .sort(),
      ["invoice.paid", "payment.completed", "webhook.test"],
    );
    await merchant.delivered(1);
    await merchant.post("/replay", { since: 0 });
    await merchant.delivered(2);
    await waitFor("that of the fee, which nobody was told of", () => copy.taken().length === 4);
    t.equal(new Set(copy.taken()).size, 4, "none was taken a second time");
  });
  t.test(`${language}: whichever secret it has, a change of it loses nothing`, { skip }, async (t) => {
    const record = await startReceiver(t);
    const merchant = await startMerchant(record.url);
    const { webhook } = withSecret.parse((await merchant.post("/rotate")).json);
    const [old, changed] = [merchant.secret, webhook.secret];
    const copies = {
      old: await startCopy(t, command ?? [], [old]),
      changed: await startCopy(t, command ?? [], [changed]),
      both: await startCopy(t, command ?? [], [old, changed]),
      neither: await startCopy(t, command ?? [], [createWebhookSecret()]),
    };
    const statuses = async () => [
      await merchant.test(copies.old.url),
      await merchant.test(copies.changed.url),
      await merchant.test(copies.both.url),
      await merchant.test(copies.neither.url),
    ];
    t.same(await statuses(), [204, 204, 204, 401]);
    await merchant.post("/rotate/finish");
    t.same(await statuses(), [401, 204, 204, 401]);
    const taken = () => Object.values(copies).map((copy) => copy.taken().length);
    await waitFor("it was printed", () => taken().join() === "1,2,2,0");
  });

  t.test(`${language}: refuses what is not as it was sent`, { skip }, async (t) => {
    const secret = createWebhookSecret();
    const copy = await startCopy(t, command ?? [], [secret]);
    let count = 0;
    const nowUnix = () => Math.floor(Date.now() / 1000);
    /** A delivery as the worker makes it, of an event of its own. */
    const delivery = ({
      atUnix = nowUnix(),
      secrets = { current: secret, next: undefined as string | undefined },
    } = {}) => {
      count += 1;
      const id = `evt_${String(count).padStart(22, "0")}`;
      const body = JSON.stringify({
        type: "invoice.paid",
        id,
        sequence: count,
        data: { note: "Rp\u00a0150.000 🧺" },
      });
      return { body, headers: signWebhook({ id, type: "invoice.paid", body, atUnix, secrets }) };
    };
    const post = async (
      headers: Record<string, string>,
      body: string | Uint8Array<ArrayBuffer>,
      method = "POST",
    ) => (await fetch(copy.url, { method, headers, ...(method === "POST" ? { body } : {}) })).status;
    const without = (headers: Record<string, string>, name: string) =>
      Object.fromEntries(Object.entries(headers).filter(([own]) => own !== name));

    const good = delivery();
    t.equal(await post(good.headers, good.body), 204);
    t.equal(await post(good.headers, good.body), 204, "again: it is known");
    const first = `invoice.paid 1 evt_${"1".padStart(22, "0")}`;
    await waitFor("it was printed", () => copy.taken().join() === first);

    const { body, headers } = delivery();
    const bytes = Buffer.from(body);
    for (const at of [0, bytes.length >> 1, bytes.length - 1]) {
      const changed = Uint8Array.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      t.equal(await post(headers, changed), 401, `byte ${at}`);
    }
    t.equal(await post(headers, `${body}\n`), 401, "a byte more");
    t.equal(await post(headers, ""), 401);
    for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature", "X-Svc-Signature"]) {
      t.equal(await post(without(headers, name), body), 401, `without ${name}`);
      t.equal(await post({ ...headers, [name]: `${headers[name]}0` }, body), 401, name);
      t.equal(await post({ ...headers, [name]: "x" }, body), 401, name);
    }
    for (const timestamp of ["-1", "1e9", " ", "9".repeat(30), String(nowUnix() + 1)])
      t.equal(await post({ ...headers, "webhook-timestamp": timestamp }, body), 401, timestamp);
    for (const [name, value] of [
      ["webhook-signature", "v1,"],
      ["webhook-signature", headers["webhook-signature"]?.slice(3) ?? ""],
      ["webhook-signature", `v2,${headers["webhook-signature"]?.slice(3)}`],
      ["X-Svc-Signature", plainSignature(secret, body).toUpperCase()],
      ["X-Svc-Signature", plainSignature(secret.slice("whsec_".length), body)],
      ["X-Svc-Signature", "sha256="],
    ] as const)
      t.equal(await post({ ...headers, [name]: value }, body), 401, `${name}: ${value}`);
    for (const seconds of [-360, 360]) {
      const late = delivery({ atUnix: nowUnix() + seconds });
      t.equal(await post(late.headers, late.body), 401, `${seconds} s: rightly signed, but not now`);
    }
    const foreign = delivery({ secrets: { current: createWebhookSecret(), next: createWebhookSecret() } });
    t.equal(await post(foreign.headers, foreign.body), 401);

    t.equal(await post(headers, body), 204, "as it was sent it is good");
    const more = delivery({
      atUnix: nowUnix() - 240,
      secrets: { current: createWebhookSecret(), next: secret },
    });
    const list = `v2,x ${more.headers["webhook-signature"]} v1,`;
    t.equal(
      await post({ ...more.headers, "webhook-signature": list }, more.body),
      204,
      "one of several is good",
    );
    const large = randomBytes(300_000).toString("hex");
    t.equal(await post(delivery().headers, large).catch(() => 413), 413, "a body beyond the bound");
    t.ok([405, 501].includes(await post({}, "", "GET")));
    const next = delivery();
    t.equal(await post(next.headers, next.body), 204, "and it goes on");
    await waitFor("what was taken is printed", () => copy.taken().length >= 4);
    t.equal(copy.taken().length, 4, "nothing else was");
  });

  t.test(`${language}: does not start without a secret`, { skip }, async (t) => {
    const [program = "", ...args] = command ?? [];
    for (const WEBHOOK_SECRET of ["", "whsec_", "secret", `${createWebhookSecret()},`]) {
      const env = { ...process.env, NODE_OPTIONS: "", PORT: "0", WEBHOOK_SECRET };
      const { code, lines } = await runCommand(t, { program, args, env });
      t.equal(code, 1, WEBHOOK_SECRET);
      t.match(lines.join("\n"), "WEBHOOK_SECRET: whsec_");
    }
  });
}
