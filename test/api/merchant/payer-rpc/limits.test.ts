import t from "tap";
import { bob } from "../../support/start-world.ts";
import { sign, startPayerRpc } from "./support/start-payer-rpc.ts";

/* Floods: from one address, from many, of calls and of payments. */

const rig = await startPayerRpc(t, {
  replicas: 2,
  change: (config) => ({
    ...config,
    trustedProxies: ["127.0.0.1"],
    payerRpc: {
      ...config.payerRpc,
      ...{ callsPerMinute: 20, transactionsPerMinute: 3 },
      ...{ sharedCallsPerMinute: 60, sharedTransactionsPerMinute: 5 },
    },
  }),
});
const { apis, post, call } = rig;
/** By turns at one process and the other. */
const by = (address: string, turn = 0) => ({
  headers: { "X-Forwarded-For": address },
  at: apis[turn % 2] ?? rig.api,
});
const chainId = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };
const wholeBlock = { ...chainId, method: "eth_getBlockByNumber", params: ["latest", true] };
const someAddress = (number: number) => `0x${number.toString(16).padStart(40, "0")}`;

t.test("a client has its calls a minute over all processes, an IPv6 one by its /64", async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) => post(chainId, by(`2001:db8:1:2::${at + 1}`, at))),
  );
  t.equal(answers.filter(({ status }) => status === 200).length, 20);
  const refused = answers.find(({ status }) => status === 429);
  t.match(refused?.error, {
    code: -32005,
    message: "At most 20 calls in 60 seconds; try again when retryAfterMs is over",
    data: { code: "rate_limited", retryAfterMs: Number },
  });
  t.match(refused?.headers.get("retry-after"), /^(?:[1-9]|[1-5][0-9]|60)$/);
  t.equal(refused?.headers.get("ratelimit-policy"), '"payer-rpc";q=20;w=60');
  t.match(refused?.headers.get("ratelimit"), /^"payer-rpc";r=0;t=\d+$/);
  t.equal((await post(chainId, by("2001:db8:1:3::1"))).status, 200, "another /64");
});

t.test("a batch is charged item by item, and those within the limit are answered", async (t) => {
  const batch = Array.from({ length: 15 }, (_, id) => ({ ...chainId, id }));
  await post(batch, by("192.0.2.1"));
  const { status, text } = await post(batch, by("192.0.2.1", 1));
  t.equal(status, 200);
  const items: { result?: string; error?: { code: number } }[] = JSON.parse(text);
  t.equal(items.filter(({ result }) => result === "0x228d").length, 5);
  t.equal(items.filter(({ error }) => error?.code === -32005).length, 10);
});

t.test("what is no request, no method or a notification costs a call, and a whole block ten", async (t) => {
  for (const body of [
    "{",
    [],
    { ...chainId, method: "trace_block" },
    { jsonrpc: "2.0", method: "eth_chainId" },
  ]) {
    await post(body, by("192.0.2.2"));
  }
  t.equal((await post(wholeBlock, by("192.0.2.2"))).headers.get("ratelimit")?.split(";")[1], "r=6");
  t.equal((await post(wholeBlock, by("192.0.2.2"))).status, 429);
  t.equal((await post(chainId, by("192.0.2.2"))).status, 200, "what is left is not lost");
});

t.test("a client sends 3 transactions a minute, all of them 5, whatever they pay", async (t) => {
  const { transfer } = await rig.invoice({ amountIdr: 1_000_000 });
  const value = 1n;
  const sendFrom = async (address: string, turn: number) =>
    call(
      "eth_sendRawTransaction",
      [await sign(await rig.payer(), { ...transfer, value })],
      by(address, turn),
    );
  const one = await Promise.all(Array.from({ length: 6 }, (_, turn) => sendFrom("192.0.2.3", turn)));
  t.equal(one.filter(({ result }) => result !== undefined).length, 3);
  t.match(
    one.find(({ error }) => error !== undefined),
    { status: 429, error: { code: -32005, message: /^At most 3 transactions in 60 seconds/ } },
  );
  const others = await Promise.all([4, 5, 6, 7].map((at) => sendFrom(`192.0.2.${at}`, at)));
  t.equal(others.filter(({ result }) => result !== undefined).length, 2);
  t.match(others.find(({ error }) => error !== undefined)?.error?.message, /^At most 5 transactions/);
});

t.test(
  "a flood from many addresses uses up what is passed on for wallets, and nothing of the api's own",
  async (t) => {
    const asked = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        call("eth_getBalance", [someAddress(at + 1), "latest"], by(`198.51.100.${at + 1}`, at)),
      ),
    );
    const answered = asked.filter(({ result }) => result === "0x0").length;
    t.ok(answered > 30 && answered <= 60, `${answered} of 60, without what the tests before took`);
    t.match(
      asked.find(({ status }) => status === 429),
      { error: { code: -32005, message: /^All wallets together/, data: { retryAfterMs: Number } } },
    );
    t.equal((await call("eth_chainId", [], by("203.0.113.1"))).result, "0x228d", "what needs nobody goes on");
    for (const { get } of apis) {
      t.equal((await get(`/api/v1/accounts/${bob}`)).status, 200);
      t.equal((await get("/api/v1/blocks/latest")).status, 200);
    }
  },
);
