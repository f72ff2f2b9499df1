import { createServer, type RequestListener } from "node:http";
import { connect, createServer as createTcpServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import t from "tap";
import { z } from "zod";
import { publicId } from "../../../api/merchant/public-id.ts";
import { plainSignature, standardSignature } from "../../../api/merchant/webhooks/sign-webhook.ts";
import { createWebhookSecret } from "../../../api/merchant/webhooks/webhook-secret.ts";
import { createApiKey } from "../../../lib/keys/api-key.ts";
import { reservePort } from "../../../scripts/processes/reserved-port.ts";
import { runChild } from "../../../scripts/processes/run-child.ts";
import { runWebhooks } from "../../../scripts/webhooks/run-webhooks.ts";
import { secretOfKey } from "../../../scripts/webhooks/secret-of-key.ts";
import { startTeller } from "../../api/merchant/events/support/start-teller.ts";
import { send } from "../../api/merchant/support/sign-in.ts";
import { buyKey, keysPath, startShop } from "../../api/merchant/support/start-shop.ts";
import { startReceiver } from "../../api/merchant/webhooks/support/start-receiver.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const shop = await startShop(t, {
  change: (config) => ({ ...config, limits: { ...config.limits, points: 100_000 } }),
});
const { api } = shop;

/** A run in this process; it ends with `stop`, or by itself. */
function listen(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const lines: string[] = [];
  const notes: string[] = [];
  const stopping = new AbortController();
  const ended = runWebhooks({
    args: ["listen", ...args],
    env,
    print: (text) => lines.push(text),
    note: (text) => notes.push(text),
    stopping: stopping.signal,
  });
  t.teardown(() => stopping.abort());
  return {
    ...{ lines, notes, ended },
    listening: () => waitFor("it listens", () => notes.some((text) => text.startsWith("Listening"))),
    stop() {
      stopping.abort();
      return ended;
    },
  };
}

/** A URL where nothing listens. */
const away = `http://127.0.0.1:${await reservePort()}`;

async function startServer(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return `http://127.0.0.1:${port}`;
}

t.test(
  "events reach a local receiver as a webhook would send them, signed with what was shown",
  async (t) => {
    const teller = await startTeller(t, shop);
    const receiver = await startReceiver(t);
    await teller.tell(1, "Before");
    const run = listen(["--to", receiver.url, "--api", `${api.url}/`], { TOLLGATE_KEY: teller.secret });
    await run.listening();
    const written = await teller.tell(3);
    await waitFor("all are there", () => run.lines.length === 3);
    const secret = /whsec_\S+/.exec(run.notes.join("\n"))?.[0] ?? "";
    t.equal(secret, secretOfKey(teller.secret));
    t.same(
      receiver.received.map(({ body }) => body),
      written.map(({ body }) => body),
      "none that was before",
    );
    for (const [index, { headers, body }] of receiver.received.entries()) {
      const id = publicId("evt", written[index]?.id ?? "");
      const atUnix = Number(headers["webhook-timestamp"]);
      t.ok(Math.abs(Date.now() / 1000 - atUnix) < 60);
      t.match(headers, {
        "content-type": "application/json",
        "user-agent": "Tollgate-Webhooks/1",
        "x-svc-event": "webhook.test",
        "x-svc-signature": plainSignature(secret, body),
        "webhook-id": id,
        "webhook-signature": standardSignature({ secret, id, atUnix, body }),
      });
      t.notOk("x-svc-dev-key" in headers, "the key goes to the API alone");
      t.match(
        run.lines[index],
        new RegExp(`^[0-9:]{8}  +${index + 2}  webhook\\.test +${id}  204 in \\d+ ms$`),
      );
    }
    t.equal(await run.stop(), 0);
    t.equal(run.notes.at(-1), "3 events, of which 3 were answered with success.");
  },
);

t.test(
  "it begins where it is told, leaves types out, and shows bodies without commands for terminals",
  async (t) => {
    const teller = await startTeller(t, shop);
    await teller.tell(4, "evil \u001b[2J\u009b31m \u007f");
    const run = listen(["--print", "--from-sequence", "3", "--api", api.url, "--key", teller.secret]);
    await waitFor("both are shown", () => run.lines.length === 4);
    t.match(run.lines[0], /^[0-9:]{8} +3 {2}webhook\.test/);
    t.equal(JSON.parse(run.lines[1] ?? "").data.message, "evil \u001b[2J\u009b31m \u007f 2", "as it is");
    t.notMatch(run.lines.join(""), /\p{Cc}/u);
    const others = listen(
      ["--print", "--from-sequence", "1", "--events", "invoice.paid,payment.completed", "--api", api.url],
      {
        TOLLGATE_KEY: teller.secret,
      },
    );
    await others.listening();
    await teller.tell();
    await waitFor("the first has it", () => run.lines.length === 6);
    t.same(others.lines, []);
    await Promise.all([run.stop(), others.stop()]);
    const receiver = await startReceiver(t);
    const own = createWebhookSecret();
    const signed = listen(["--to", receiver.url, "--from-sequence", "5", "--api", api.url], {
      TOLLGATE_KEY: teller.secret,
      TOLLGATE_WEBHOOK_SECRET: own,
    });
    await waitFor("it is sent", () => receiver.received.length === 1);
    const [got] = receiver.received;
    t.equal(got?.headers["x-svc-signature"], plainSignature(own, got?.body ?? ""));
    t.notMatch(signed.notes.join(), own);
    await signed.stop();
  },
);

t.test("however often the connection is cut, each event arrives once and in order", async (t) => {
  const teller = await startTeller(t, shop);
  const receiver = await startReceiver(t);
  const sockets = new Set<Socket>();
  const apiPort = Number(new URL(api.url).port);
  const proxy = createTcpServer((client) => {
    const upstream = connect(apiPort, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => sockets.delete(socket));
    }
    client.pipe(upstream);
    upstream.pipe(client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(() => {
    cut();
    proxy.close();
  });
  const { port } = z.object({ port: z.number() }).parse(proxy.address());
  const run = listen(["--to", receiver.url, "--api", `http://127.0.0.1:${port}`], {
    TOLLGATE_KEY: teller.secret,
  });
  await run.listening();
  const written: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    // Some of them while there is no connection, and some while they are sent on.
    written.push(...(await teller.tell(2)).map(({ body }) => body));
    cut();
    written.push(...(await teller.tell(3)).map(({ body }) => body));
    await waitFor("they are there", () => receiver.received.length >= written.length);
  }
  t.same(
    receiver.received.map(({ body }) => body),
    written,
  );
  t.ok(run.notes.filter((note) => note.startsWith("Listening again")).length >= 3);
  await run.stop();
});

t.test("a receiver that is away is tried a few times; one that refuses once, and is told of", async (t) => {
  const teller = await startTeller(t, shop);
  const late = await startReceiver(t);
  let refusals = 2;
  late.answers((response) => {
    refusals -= 1;
    if (refusals >= 0) return response.destroy();
    return response.writeHead(500).end("no");
  });
  const run = listen(["--to", late.url, "--api", api.url], { TOLLGATE_KEY: teller.secret });
  await run.listening();
  await teller.tell(1);
  await waitFor("it was sent", () => run.lines.length === 1);
  t.match(run.lines, [/ 500 in \d+ ms$/]);
  t.equal(late.received.length, 3);
  t.equal(new Set(late.received.map(({ headers }) => headers["webhook-id"])).size, 1);
  t.equal(run.notes.filter((note) => /without an answer\. Trying again in [12] s/.test(note)).length, 2);
  await run.stop();
  t.equal(run.notes.at(-1), "1 event, of which 0 were answered with success.");
  const nobody = listen(["--to", away, "--from-sequence", "1", "--api", api.url], {
    TOLLGATE_KEY: teller.secret,
  });
  await waitFor("it is given up", () => nobody.lines.length === 1);
  t.match(nobody.lines, [/not delivered: nothing listens there$/]);
  t.equal(nobody.notes.filter((note) => note.includes("Trying again")).length, 3);
  await nobody.stop();
});

t.test("what cannot go on ends with a reason: 1 for the API's, 2 for the command line's", async (t) => {
  const teller = await startTeller(t, shop);
  const looking = await buyKey(shop, teller.headers, { package: "monthly", scopes: ["dashboard:read"] });
  const ended = async (args: readonly string[], key?: string, secret?: string) => {
    const run = listen(args, {
      ...(key === undefined ? {} : { TOLLGATE_KEY: key }),
      ...(secret === undefined ? {} : { TOLLGATE_WEBHOOK_SECRET: secret }),
    });
    const code = await run.ended;
    return `${code} ${run.notes.at(-1)}`;
  };
  const ready = ["--print", "--api", api.url];
  const nobodys = createApiKey({ profile: "development", prefix: "svc" });
  t.match(await ended(ready, nobodys), /^1 The API refuses: There is no such API key/);
  t.match(
    await ended(ready, looking.secret),
    /^1 The API refuses: This needs a key with the scope invoices:read/,
  );
  t.match(await ended(["--print", "--api", away], teller.secret), /^1 No events .*ECONNREFUSED.*npm start/);
  t.match(await ended(ready), /^2 No key: set TOLLGATE_KEY/);
  for (const key of [
    "x",
    teller.secret.slice(0, -1),
    `${teller.secret}0`,
    createApiKey({ profile: "development" }),
  ]) {
    const said = await ended(ready, key);
    t.match(said, /^2 This is no key that was bought/);
    t.notOk(said.includes(key.slice(4)) && key.length > 4, "and it is not repeated");
  }
  t.match(await ended(["--api", api.url], teller.secret), /^2 Where to\?/);
  t.match(await ended(["--to", "localhost:3000"], teller.secret), /^2 --to: a URL with http or https/);
  t.match(await ended([...ready, "--events", "invoice.payed"], teller.secret), /^2 --events: names out of/);
  t.match(
    await ended([...ready, "--from-sequence", "0"], teller.secret),
    /^2 --from-sequence: a whole number/,
  );
  t.match(
    await ended(ready, teller.secret, "whsec_AAAA"),
    /^2 TOLLGATE_WEBHOOK_SECRET is no webhook's secret/,
  );
  t.match(await ended([...ready, "--form-sequence", "1"], teller.secret), /Did you mean --from-sequence\?/);
  const run = listen(ready, { TOLLGATE_KEY: teller.secret });
  await run.listening();
  await send(api, `${keysPath}/revoke`, { headers: teller.headers, body: { keyId: teller.keyId } });
  t.equal(await run.ended, 1);
  t.match(run.notes.at(-1), "The API refuses: The API key was revoked; use another one");
});

t.test("an API that lies harms nobody but itself", async (t) => {
  const key = createApiKey({ profile: "development", prefix: "svc" });
  const event = (sequence: number, change: object = {}) =>
    `event: webhook.test\nid: ${sequence}\ndata: ${JSON.stringify({
      ...{ type: "webhook.test", id: `evt_${"0".repeat(22)}`, sequence, data: {} },
      ...change,
    })}\n\n`;
  const begin = 'event: begin\nid: 0\ndata: {"after":0,"latest":0,"removedUpTo":null}\n\n';
  const asked: string[] = [];
  const sent = [
    begin +
      event(1) +
      event(1) +
      event(0) +
      "event: x\ndata: {\n\n" +
      event(2, { id: "\u001b[2J" }) +
      event(3),
    `${begin.replace(":0", ":3")}data: ${"x".repeat(400_000)}`,
    event(2) + event(4, { type: "a\u0007b" }) + event(5),
  ];
  const url = await startServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end(sent[asked.length - 1] ?? begin.replace(":0", ":5"));
  });
  const run = listen(["--print", "--api", url], { TOLLGATE_KEY: key });
  await waitFor("it has asked again and again", () => asked.length >= 4);
  t.same(
    run.lines.filter((line) => line.includes("  evt_")).map((line) => Number(line.slice(8, 15))),
    [1, 3, 5],
  );
  t.same(
    asked.slice(0, 4).map((path) => path.split("=")[1]),
    ["latest", "3", "3", "5"],
  );
  t.notMatch(run.lines.join(""), /\p{Cc}/u);
  await run.stop();
  let hasKey = false;
  const elsewhere = await startServer((request, response) => {
    hasKey ||= "x-svc-dev-key" in request.headers;
    response.end();
  });
  const redirects = await startServer((_request, response) =>
    response.writeHead(302, { Location: elsewhere }).end(),
  );
  const sentOn = listen(["--print", "--api", redirects], { TOLLGATE_KEY: key });
  t.equal(await sentOn.ended, 1);
  t.match(sentOn.notes.at(-1), "it answered 302, which is no stream of events");
  t.notOk(hasKey);
  const words = await startServer((_request, response) =>
    response.writeHead(403, { "Content-Type": "application/problem+json" }).end('{"detail":"no\\u001b[2J"}'),
  );
  const refused = listen(["--print", "--api", words], { TOLLGATE_KEY: key });
  t.equal(await refused.ended, 1);
  t.equal(refused.notes.at(-1), "The API refuses: no\ufffd[2J");
});

t.test("the command itself, with Ctrl-C", async (t) => {
  const teller = await startTeller(t, shop);
  const lines: string[] = [];
  const main = fileURLToPath(new URL("../../../scripts/webhooks/main.ts", import.meta.url));
  const child = await runChild({
    name: "listen",
    program: process.execPath,
    args: ["--disable-warning=ExperimentalWarning", main, "listen", "--print", "--api", api.url],
    env: { ...process.env, NODE_OPTIONS: "", TOLLGATE_KEY: teller.secret },
    onLine: (line) => lines.push(line),
  });
  if ("failed" in child) throw new Error(child.failed);
  t.teardown(() => child.running() && child.kill());
  await waitFor("it listens", () => lines.some((line) => line.startsWith("Listening")));
  await teller.tell();
  await waitFor("it is shown", () => lines.some((line) => line.startsWith("{")));
  process.kill(child.pid, "SIGINT");
  t.equal((await child.ended).code, 0);
  t.equal(lines.at(-1), "1 event.");
});
