import t from "tap";
import type { ApiConfig } from "../../../../api/config.ts";
import { problem } from "../../support/problem.ts";
import { startApi } from "../../support/start-api.ts";
import { startServices } from "../../support/start-world.ts";
import {
  aliceWallet,
  askNonce,
  bobWallet,
  messageOf,
  send,
  sessionPath,
  signIn,
} from "../support/sign-in.ts";

const { anvil: _anvil, ...services } = await startServices(t);
const shipped = { noncesPerMinute: 20, signInsPerMinute: 20 };
const change = (config: ApiConfig): ApiConfig => ({
  ...config,
  session: { ...config.session, ...shipped },
  trustedProxies: ["127.0.0.1"],
});
const [api, other] = await Promise.all([
  startApi(t, { ...services, change }),
  startApi(t, { ...services, change }),
]);
const from = (address: string) => ({ "X-Forwarded-For": address });

t.test("a client gets 20 nonces a minute over all processes, an IPv6 one by its /64", async (t) => {
  const ask = (at: number, address: string) =>
    send(at % 2 === 0 ? api : other, `${sessionPath}/nonce`, { headers: from(address), body: {} });
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, at) => ask(at, `2001:db8:1:2::${at + 1}`)),
  );
  t.equal(answers.filter(({ status }) => status === 200).length, 20);
  const refused = answers.find(({ status }) => status === 429);
  t.match(problem.parse(refused?.json), { code: "rate_limited", detail: /At most 20 nonces in 60 seconds/ });
  t.match(refused?.headers.get("retry-after"), /^(?:[1-9]|[1-5][0-9]|60)$/);
  t.match(refused?.headers.get("ratelimit-policy"), /^"session-nonce";q=20;w=60$/);
  t.equal((await ask(0, "2001:db8:1:3::1")).status, 200, "another /64");
  t.equal((await ask(0, "192.0.2.1")).status, 200);
});

t.test("a client has 20 tries to sign in a minute, good ones and bad ones", async (t) => {
  const nonce = await askNonce(api);
  const message = messageOf(nonce, { address: aliceWallet.address });
  const body = { message, signature: await bobWallet.signMessage(message) };
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      send(at % 2 === 0 ? api : other, sessionPath, { headers: from("192.0.2.9"), body }),
    ),
  );
  t.equal(answers.filter(({ status }) => status === 401).length, 20);
  t.equal(answers.filter(({ status }) => status === 429).length, 10);
  t.ok(await signIn(api, aliceWallet, from("192.0.2.10")), "another client is not held up");
});

t.test("who guesses tokens is charged for it", async (t) => {
  const limited = await startApi(t, {
    ...services,
    change: (config) => ({ ...change(config), limits: { points: 5, windowSeconds: 60 } }),
  });
  const guess = (at: number) =>
    limited.get(sessionPath, {
      ...from("192.0.2.77"),
      Authorization: `Bearer wst_${String(at).padStart(43, "a")}`,
    });
  const statuses: number[] = [];
  for (let at = 0; at < 7; at += 1) statuses.push((await guess(at)).status);
  t.same(statuses, [401, 401, 401, 401, 401, 429, 429]);
});
