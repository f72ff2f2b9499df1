import t from "tap";
import { problem } from "../../support/problem.ts";
import { startApi } from "../../support/start-api.ts";
import { startServices } from "../../support/start-world.ts";
import {
  aliceWallet,
  askNonce,
  messageOf,
  send,
  sessionPath,
  sessionsPath,
  signIn,
} from "../support/sign-in.ts";

const { anvil: _anvil, ...services } = await startServices(t);
const api = await startApi(t, services);
const ours = "http://127.0.0.1:4000";
const { cookie, bearer, id } = await signIn(api);

/** What browsers say of the page that sends a request, and whether it is ours. */
const pages: { from: Record<string, string>; isOurs: boolean }[] = [
  { from: { Origin: ours }, isOurs: true },
  { from: { Origin: ours, "Sec-Fetch-Site": "same-origin" }, isOurs: true },
  { from: { Origin: "http://localhost:4000", "Sec-Fetch-Site": "same-origin" }, isOurs: true },
  { from: { "Sec-Fetch-Site": "same-origin" }, isOurs: true },
  { from: { Origin: "https://evil.example" }, isOurs: false },
  { from: { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" }, isOurs: false },
  { from: { Origin: "null" }, isOurs: false },
  { from: { Origin: "http://localhost:4000" }, isOurs: false },
  { from: { Origin: "https://127.0.0.1:4000" }, isOurs: false },
  { from: { Origin: "http://127.0.0.1:40000" }, isOurs: false },
  { from: { Origin: `${ours}/` }, isOurs: false },
  { from: { Origin: `${ours}.evil.example` }, isOurs: false },
  { from: { Origin: "", "Sec-Fetch-Site": "same-site" }, isOurs: false },
  { from: { "Sec-Fetch-Site": "same-site" }, isOurs: false },
  { from: { "Sec-Fetch-Site": "none" }, isOurs: false },
  { from: { "Sec-Fetch-Site": "same-origin, cross-site" }, isOurs: false },
  { from: { Referer: `${ours}/merchant` }, isOurs: false },
];

t.test("with a cookie only a page of ours changes anything", async (t) => {
  for (const { from, isOurs } of [...pages, { from: {}, isOurs: false }]) {
    const what = JSON.stringify(from);
    const read = await api.get(sessionPath, { Cookie: cookie, ...from });
    t.equal(read.status, 200, `${what} reads`);
    t.notOk(
      read.headers.has("access-control-allow-credentials"),
      `${what}: no page of others reads the answer`,
    );
    const answer = await send(api, sessionsPath, { method: "DELETE", headers: { Cookie: cookie, ...from } });
    t.equal(answer.status, isOurs ? 200 : 403, what);
    if (!isOurs) t.match(problem.parse(answer.json), { code: "forbidden", detail: /Authorization: Bearer/ });
  }
});

t.test("with a bearer token any page that was given it does", async (t) => {
  for (const { from } of pages) {
    const answer = await send(api, sessionsPath, { method: "DELETE", headers: { ...bearer, ...from } });
    t.equal(answer.status, 200, JSON.stringify(from));
  }
});

t.test("a page of others signs nobody in; a program does", async (t) => {
  for (const { from, isOurs } of [...pages, { from: {}, isOurs: true }]) {
    const isProgram = !("Origin" in from) && !("Sec-Fetch-Site" in from);
    const message = messageOf(await askNonce(api), { address: aliceWallet.address });
    const body = { message, signature: await aliceWallet.signMessage(message) };
    const answer = await send(api, sessionPath, { headers: from, body });
    t.equal(answer.status, isOurs || isProgram ? 201 : 403, JSON.stringify(from));
    t.equal(answer.headers.has("set-cookie"), answer.status === 201, JSON.stringify(from));
  }
});

t.test("what a form of another page can send is not read, whatever Origin it has", async (t) => {
  const message = messageOf(await askNonce(api), { address: aliceWallet.address });
  const signature = await aliceWallet.signMessage(message);
  const json = JSON.stringify({ message, signature });
  const types = [
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "",
    "text/json",
  ];
  for (const type of types) {
    for (const path of [sessionPath, `${sessionPath}/nonce`]) {
      const response = await fetch(`${api.url}${path}`, {
        method: "POST",
        headers: { "Content-Type": type, Origin: ours, Cookie: cookie },
        body: Buffer.from(path === sessionPath ? json : "{}"),
      });
      t.equal(response.status, 415, `${type} ${path}`);
      await response.arrayBuffer();
    }
    const ended = await fetch(`${api.url}${sessionsPath}/${id}`, {
      method: "DELETE",
      headers: { "Content-Type": type, Origin: ours, Cookie: cookie },
      body: Buffer.from("a=b"),
    });
    t.equal(ended.status, 415, `${type} DELETE`);
  }
  t.equal((await api.get(sessionPath, bearer)).status, 200);
});

t.test("no method is changed by a header or a field of the query", async (t) => {
  for (const headers of [{ "X-HTTP-Method-Override": "DELETE" }, { "X-Method-Override": "DELETE" }]) {
    await send(api, `${sessionPath}?_method=DELETE`, { method: "GET", headers: { ...bearer, ...headers } });
    t.equal((await api.get(sessionPath, bearer)).status, 200);
  }
});

t.test("in production only the two sites may read answers, without cookies", async (t) => {
  const origins = ["https://explorer.example", "https://www.example"];
  const production = await startApi(t, {
    ...services,
    change: (config) => ({ ...config, profile: "production", origins, publicUrl: "https://api.example" }),
  });
  const preflight = async (origin: string) => {
    const answer = await send(production, sessionsPath, {
      method: "OPTIONS",
      headers: {
        Origin: origin,
        "Access-Control-Request-Method": "DELETE",
        "Access-Control-Request-Headers": "authorization",
      },
    });
    t.notOk(answer.headers.has("access-control-allow-credentials"));
    return answer.headers.get("access-control-allow-origin");
  };
  for (const origin of origins) t.equal(await preflight(origin), origin);
  for (const origin of ["https://evil.example", "https://api.example.evil.example", "null"])
    t.equal(await preflight(origin), null, origin);
  const { setCookie } = await signIn(production);
  t.match(setCookie, /^__Host-svc_session=.*; Secure; SameSite=Lax$/);
});
