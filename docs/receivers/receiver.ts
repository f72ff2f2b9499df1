// Receives webhooks, with Node's standard library alone (22.18 or newer runs it as it is):
//
//   WEBHOOK_SECRET=whsec_… PORT=3000 node receiver.ts
//
// While the secret is changed, both can be given, with a comma in between.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";

const bodyBytesMax = 262_144;
const toleranceSeconds = 300;
const idsMax = 10_000;

const secrets = (process.env["WEBHOOK_SECRET"] ?? "").split(",");
for (const secret of secrets) {
  if (!/^whsec_[0-9A-Za-z+/]{43}=$/.test(secret)) throw new Error("WEBHOOK_SECRET: whsec_… was expected");
}

/** Ids of the events that were taken. In earnest this is a column of your database, unique. */
const taken = new Set<string>();

const server = createServer({ requestTimeout: 15_000 }, async (request, response) => {
  response.writeHead(await receive(request).catch(() => 400), { Connection: "close" }).end();
});
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object") say(`listening on http://127.0.0.1:${address?.port}/`);
});

/** The status of the answer. All but 2xx brings the event again. */
async function receive(request: IncomingMessage): Promise<number> {
  if (request.method !== "POST") return 405;
  // The bytes as they came: JSON that was read and written again has another signature.
  const body = await readBody(request);
  if (body === undefined) return 413;
  // Either of the two is enough; the first one also refuses what somebody recorded and sends again later.
  if (!hasStandardSignature(request.headers, body)) return 401;
  if (!hasPlainSignature(request.headers, body)) return 401;
  const id = String(request.headers["webhook-id"]);
  // An event can come more than once.
  if (taken.has(id)) return 204;
  take(JSON.parse(body.toString()));
  taken.add(id);
  for (const oldest of taken) {
    if (taken.size <= idsMax) break;
    taken.delete(oldest);
  }
  return 204;
}

/** Yours: write it down and return; what takes long is done after the answer. Where this throws, the event comes again. */
function take(event: { type: string; sequence: number; id: string }): void {
  say(`${event.type} ${event.sequence} ${event.id}`);
}

/** Standard Webhooks: HMAC-SHA256 of "id.timestamp.body", keyed with the bytes that the secret's base64 stands for. */
function hasStandardSignature(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const [id, timestamp] = [headers["webhook-id"], headers["webhook-timestamp"]];
  if (typeof id !== "string" || typeof timestamp !== "string" || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) return false;
  // While the secret is changed there are two signatures.
  const given = String(headers["webhook-signature"] ?? "").split(" ");
  return secrets.some((secret) => {
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const digest = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
    return given.some((signature) => isSame(signature, `v1,${digest}`));
  });
}

/** X-Svc-Signature: HMAC-SHA256 of the body, keyed with the secret's whole text. The new secret's is in a field of its own. */
function hasPlainSignature(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const given = [headers["x-svc-signature"], headers["x-svc-signature-next"]];
  return secrets.some((secret) => {
    const expected = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    return given.some((signature) => isSame(String(signature ?? ""), expected));
  });
}

/** In a time that does not tell where they differ. */
function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Undefined where it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
