import { AbiCoder } from "ethers/abi";
import t from "tap";
import { logInput, tokenCode } from "../../fakes/token/token-code.ts";
import { abiText, tokenLogs } from "../../fakes/token/token-logs.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startApi } from "../support/start-api.ts";
import { alice, bob, startServices } from "../support/start-world.ts";

const coder = AbiCoder.defaultAbiCoder();
const browser = { Accept: "text/html" };
const filled = (byte: string) => `0x${byte.repeat(20)}`;
/** Hands back its arguments. */
const echo = filled("e0");
/** Answers with what a page must not trust. */
const odd = filled("0d");
const market = filled("71");
const word = (value: number) => value.toString(16).padStart(64, "0");

/** 250 times the same list of 250 numbers, in 16 kB. */
const bomb = `0x${[32, 250, ...Array.from({ length: 250 }, () => 250 * 32), 250, ...Array.from({ length: 250 }, () => 7)].map(word).join("")}`;

const { anvil, ...services } = await startServices(t);
for (const [address, code] of [
  [echo, "0x600436038060045f375ff3"],
  [
    odd,
    tokenCode({
      name: { returns: abiText("<script>alert(1)</script>") },
      symbol: "loops",
      decimals: "returns a megabyte",
    }),
  ],
  [market, tokenCode({ name: { returns: bomb } })],
] as const) {
  await anvil.rpc("anvil_setCode", [address, code]);
}
const contractsFolder = t.testdir({
  "market.json": JSON.stringify({
    name: "Market",
    address: market,
    abi: [
      {
        type: "function",
        name: "name",
        stateMutability: "view",
        inputs: [],
        outputs: [{ type: "uint256[][]" }],
      },
      {
        type: "function",
        name: "pay",
        stateMutability: "payable",
        inputs: [{ name: "to", type: "address" }],
        outputs: [],
      },
      { type: "error", name: "Closed", inputs: [{ name: "since", type: "uint256" }] },
    ],
  }),
});
const api = await startApi(t, { ...services, change: (config) => ({ ...config, contractsFolder }) });

const ask = async (address: string, call: string, ...given: readonly string[]) => {
  const query = new URLSearchParams({ call });
  for (const one of given) query.append("argument", one);
  const { status, text } = await api.get(`/contract/${address}?${query}`, browser);
  t.equal(status, 200);
  t.ok(text.length < 100_000, `${text.length} bytes`);
  t.notMatch(text, /undefined|\[object|NaN|\bnull\b/);
  return text;
};

t.test("a function is asked by its signature, and what it returns is told by its types", async (t) => {
  const numbers = await ask(echo, "f(uint256[] a, bool) returns (uint256[] list, bool)", "[1, 2]", "true");
  t.match(numbers, '<code class="long">[&quot;1&quot;,&quot;2&quot;]</code>');
  t.match(numbers, /<code class="long">true<\/code>/);
  t.match(numbers, /list <code>uint256\[\]<\/code>/);
  t.match(await ask(echo, "f(address) returns (address)", alice.toLowerCase()), `href="../address/${alice}"`);
  const large = String(2n ** 256n - 1n);
  t.match(await ask(echo, "f(uint256) returns (uint256)", large), large);
  t.match(await ask(echo, "f(string) returns (string)", ""), '<code>""</code>');
  t.match(await ask(echo, "f(bool) returns (string)", "true"), "is not of these types");
  t.match(await ask(echo, "f()"), "The answer as it came: 0 bytes");
  t.notMatch(await ask(echo, "f(bool) returns (bool)"), "Answer at block", "without arguments it is a form");
});

t.test("an argument that cannot be used is told of at its field, with what it was", async (t) => {
  const page = await ask(echo, "f(address,uint8) returns (address)", "0x12", "256");
  t.match(page, 'value="0x12"');
  t.match(page, /aria-describedby="any-0-fault"[\s\S]*id="any-0-fault">An address was expected/);
  t.match(page, "A whole number from 0 to 255 was expected.");
  t.notMatch(page, "Answer at block");
  t.match(await ask(echo, "no function"), "This is no function that can be asked");
  t.match(await ask(echo, "f() returns (uint256[1000000000])"), "This is no function that can be asked");
  const indonesian = await api.get(`/contract/${echo}?call=f(bool)&argument=x&lang=id`, browser);
  t.match(indonesian.text, "Diharapkan true atau false.");
});

t.test("what a contract says is text, and cannot keep anybody busy", async (t) => {
  const script = "<script>alert(1)</script>";
  for (const page of [
    await ask(odd, "name() returns (string)"),
    await ask(echo, "f(string) returns (string)", `"${script}`),
    await ask(odd, `name() returns (string)${script}`),
  ]) {
    t.notMatch(page, "<script>alert");
    t.match(page, "&lt;script&gt;alert(1)");
  }
  t.match(await ask(odd, "symbol() returns (string)"), "It did not end.");
  t.match(await ask(odd, "decimals() returns (string)"), "1048576 bytes");
  t.match(await ask(odd, "totalSupply()"), /It did not end|It refused|It returned nothing/);
  t.match(
    await ask(market, "name()"),
    "is not of these types, or too long to be read",
    "62 500 values in 16 kB",
  );
  const tooLong = await api.get(`/contract/${echo}?call=f(bytes)&argument=0x${"00".repeat(5000)}`, browser);
  t.equal(tooLong.status, 414);
  t.match(tooLong.text, "<!doctype html>");
});

t.test("a known contract shows its ABI, and why it refuses", async (t) => {
  const { text } = await api.get(`/contract/${market}`, browser);
  t.match(text, "<h1>Contract Market</h1>");
  t.match(text, 'href="../api/v1/network/contracts/Market/abi.json"');
  t.match(text, "name() → uint256[][]");
  t.match(text, "function pay(address to) payable");
  t.match(text, "error Closed(uint256 since)");
  t.match(
    await ask(market, "decimals() returns (uint8)"),
    /It refused\.<\/span> The contract gave no reason\./,
  );
  // Reverts with what it was given.
  const thrower = filled("ee");
  await anvil.rpc("anvil_setCode", [thrower, "0x600436038060045f375ffd"]);
  const reason = coder.encode(["string"], ["closed <today>"]).slice(2);
  const page = await ask(
    thrower,
    "f(bytes32,bytes32,bytes32) returns (bool)",
    ...[0, 1, 2].map((at) => `0x${reason.slice(64 * at, 64 * at + 64)}`),
  );
  t.match(page, "It refused.");
});

t.test("a contract's events are listed by the chain, newest first, and each once", async (t) => {
  const from = alice;
  for (const value of [1n, 2n, 3n]) {
    await anvil.rpc("eth_sendTransaction", [
      { from, to: odd, data: tokenLogs.erc20(alice, bob, value), gas: "0x7a120" },
    ]);
  }
  const data = `0x${"ab".repeat(40_000)}`;
  const topics = [1, 2, 3].map((n) => `0x${word(n)}`);
  await anvil.rpc("eth_sendTransaction", [
    { from, to: odd, data: logInput({ topics, data }), gas: "0x1c9c380" },
  ]);
  await waitFor("the API has the last block", async () =>
    (await api.get("/api/v1/chain")).text.includes('"blockNumber":4'),
  );
  const found: unknown[] = [];
  const path = `/address/${odd}?tab=events&limit=2`;
  const first = (await api.get(path, browser)).text;
  t.match(first, "An event whose ABI is not known");
  t.ok(first.length < 50_000, `${first.length} bytes`);
  for (let next: string | undefined = path; next !== undefined; ) {
    const { status, text } = await api.get(next, browser);
    t.equal(status, 200);
    found.push(...[...text.matchAll(/Block <a href="\.\.\/block\/(\d+)"/g)].map(([, block]) => block));
    next = /<a rel="next" href="\.\.([^"]+)"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
  }
  t.strictSame(found, ["4", "3", "2", "1"]);
  const whole = (await api.get(`/address/${odd}?tab=events`, browser)).text;
  t.match(whole, "Transfer(address,address,uint256)");
  t.match(whole, /href="..\/contract\/0x0D0D/);
  for (const before of ["999999999999999.1", "0.0", "x", "1.1.1", "-1.0"]) {
    t.equal((await api.get(`/address/${odd}?tab=events&before=${before}`, browser)).status, 200, before);
  }
  t.match((await api.get(`/address/${bob}?tab=events`, browser)).text, "No event from block 0 on");
});

t.test("an address without code leads to its account, and a call costs more than a page", async (t) => {
  const none = await api.get(`/contract/${bob}`, browser);
  t.equal(none.status, 404);
  t.match(none.text, "There is no contract at this address");
  t.match(none.text, `href="../address/${bob}"`);
  t.equal((await api.get("/contract/0x12", browser)).status, 404);
  const { url: redisUrl } = await startRedis(t);
  const limited = await startApi(t, {
    ...services,
    redisUrl,
    change: (config) => ({ ...config, limits: { ...config.limits, points: 12 } }),
  });
  // Before Redis is there each process counts by itself.
  await waitFor("it counts in Redis", async () => {
    const ready = await fetch(`${limited.opsUrl}/readyz`);
    return ready.ok && !(await ready.text()).includes("Redis");
  });
  const statuses = [];
  for (const path of ["?call=f()", "", "?call=g()", "?call=h()", ""]) {
    statuses.push((await limited.get(`/contract/${echo}${path}`, browser)).status);
  }
  t.strictSame(statuses, [200, 200, 200, 429, 200]);
});
