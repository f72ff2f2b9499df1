import { Signature, Wallet } from "ethers";
import { hashMessage } from "ethers/hash";
import t, { type Test } from "tap";
import { contractWalletCode } from "../../../fakes/contract-wallet/contract-wallet-code.ts";
import { problem, wordsOfLibraries } from "../../support/problem.ts";
import { startApi } from "../../support/start-api.ts";
import { startServices } from "../../support/start-world.ts";
import { aliceWallet, askNonce, bobWallet, messageOf, send, sessionPath } from "../support/sign-in.ts";

const { anvil, ...services } = await startServices(t);
const clock = { ms: Date.now() };
const now = () => clock.ms;
const [api, other] = await Promise.all([
  startApi(t, { ...services, now }),
  startApi(t, { ...services, now }),
]);
const { address } = aliceWallet;

const offer = (message: string, signature: string, to = api) =>
  send(to, sessionPath, { body: { message, signature } });
const sign = async (message: string, to = api) => offer(message, await aliceWallet.signMessage(message), to);

function isRefused(t: Test, answer: Awaited<ReturnType<typeof send>>, expected: object, what: string) {
  t.match(problem.parse(answer.json), expected, what);
  t.notOk(answer.headers.has("set-cookie"), what);
  t.notMatch(answer.text, wordsOfLibraries, what);
}
const badMessage = { status: 400, code: "invalid_request", errors: [{ pointer: "/message" }] };
const refused = { status: 401, code: "session_required" };

t.test("a message for another site, chain or time opens nothing, and costs no nonce", async (t) => {
  const nonce = await askNonce(api);
  const line = (name: string, value: string) => messageOf(nonce, { address, lines: { [name]: value } });
  const cases = {
    "another domain": messageOf(nonce, { address, domain: "evil.example" }),
    "a domain behind our name": messageOf(nonce, { address, domain: "127.0.0.1:4000@evil.example" }),
    "another URI": line("URI", "https://evil.example"),
    "another chain": line("Chain ID", "1"),
    expired: line("Expiration Time", new Date(clock.ms).toISOString()),
    "not valid yet": line("Not Before", new Date(clock.ms + 1000).toISOString()),
    "issued in the future": line("Issued At", new Date(clock.ms + 61_000).toISOString()),
    "issued long ago": line("Issued At", new Date(clock.ms - 300_001).toISOString()),
    "no message": "hello",
  };
  for (const [what, message] of Object.entries(cases)) isRefused(t, await sign(message), badMessage, what);
  t.equal((await sign(messageOf(nonce, { address }))).status, 201);
});

t.test("a nonce opens one session, whoever sends it again and however often at once", async (t) => {
  const message = messageOf(await askNonce(api), { address });
  const signature = await aliceWallet.signMessage(message);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => offer(message, signature, at % 2 === 0 ? api : other)),
  );
  t.equal(answers.filter(({ status }) => status === 201).length, 1);
  for (const answer of answers.filter(({ status }) => status !== 201))
    isRefused(t, answer, { ...refused, detail: /nonce is unknown, used or too old/ }, "again");
});

t.test("a nonce is used up by a signature that is not its address's", async (t) => {
  const message = messageOf(await askNonce(api), { address });
  isRefused(
    t,
    await offer(message, await bobWallet.signMessage(message)),
    { ...refused, detail: /signature is not/ },
    "bob's",
  );
  isRefused(t, await sign(message), { ...refused, detail: /nonce/ }, "then alice's own");
});

t.test("a nonce that nobody gave out, and one that is too old, opens nothing", async (t) => {
  const nonce = await askNonce(api);
  for (const name of ["aB3dE6gH9jK2mN5pQ8sT1vW4", "abcdefgh", "a".repeat(500)])
    isRefused(t, await sign(messageOf({ ...nonce, nonce: name }, { address })), refused, name);
  clock.ms += 300_001;
  const late = { "Issued At": new Date(clock.ms).toISOString(), "Expiration Time": undefined };
  isRefused(t, await sign(messageOf(nonce, { address, lines: late })), refused, "late");
  const edge = await askNonce(api);
  clock.ms += 299_999;
  t.equal((await sign(messageOf(edge, { address }))).status, 201, "in time");
});

t.test(
  "a signature opens its own address's session in each form that a wallet gives, and in no other",
  async (t) => {
    const forms: Record<string, [number, (signature: Signature) => string]> = {
      "v of 27 or 28": [201, ({ serialized }) => serialized],
      "v of 0 or 1 (Ledger)": [201, ({ r, s, yParity }) => `${r}${s.slice(2)}0${yParity}`],
      "upper case": [201, ({ serialized }) => `0x${serialized.slice(2).toUpperCase()}`],
      "another v": [401, ({ r, s, v }) => `${r}${s.slice(2)}${(55 - v).toString(16)}`],
      "the higher s": [
        401,
        ({ r, s, v }) => `${r}${(order - BigInt(s)).toString(16).padStart(64, "0")}${(55 - v).toString(16)}`,
      ],
      "64 bytes": [401, ({ compactSerialized }) => compactSerialized],
      "a byte more": [401, ({ serialized }) => `${serialized}00`],
      zeros: [401, () => `0x${"00".repeat(65)}`],
      nothing: [400, () => "0x"],
      "half a byte": [400, ({ serialized }) => serialized.slice(0, -1)],
      "no prefix": [400, ({ serialized }) => serialized.slice(2)],
      "too long": [400, () => `0x${"00".repeat(2049)}`],
    };
    for (const [what, [status, form]] of Object.entries(forms)) {
      const message = messageOf(await askNonce(api), { address });
      const answer = await offer(message, form(Signature.from(await aliceWallet.signMessage(message))));
      t.equal(answer.status, status, `${what}: ${answer.text}`);
      if (status !== 201) t.notMatch(answer.text, wordsOfLibraries);
    }
    const message = messageOf(await askNonce(api), { address });
    const raw = aliceWallet.signingKey.sign(hashMessage(message.replace("Sign", "sign"))).serialized;
    t.equal((await offer(message, raw)).status, 401, "over another text");
  },
);

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

t.test("a contract wallet signs in with what it takes as its own (EIP-1271)", async (t) => {
  const contracts = {
    owned: contractWalletCode({ owner: address }),
    reverts: contractWalletCode("reverts"),
    loops: contractWalletCode("loops"),
    "gives back what it was sent": contractWalletCode("gives back what it was sent"),
    "says yes and more": contractWalletCode("says yes and more"),
    "says true": contractWalletCode("says true"),
  };
  const addresses = new Map<string, string>();
  for (const [at, [what, code]] of Object.entries(contracts).entries()) {
    const contract = Wallet.fromPhrase(phrase).deriveChild(at).address;
    await anvil.rpc("anvil_setCode", [contract, code]);
    addresses.set(what, contract);
  }
  const offerFor = async (contract: string, wallet: Wallet, suffix = "") => {
    const message = messageOf(await askNonce(api), { address: contract });
    return offer(message, (await wallet.signMessage(message)) + suffix);
  };
  const owned = addresses.get("owned") ?? "";
  const opened = await offerFor(owned, aliceWallet);
  t.match(opened, { status: 201, json: { session: { address: owned } } });
  isRefused(t, await offerFor(owned, bobWallet), refused, "another's key");
  for (const [what, contract] of addresses)
    if (what !== "owned") isRefused(t, await offerFor(contract, aliceWallet), refused, what);
  // The identity precompile gives back what it was sent, which begins with the word for yes.
  isRefused(
    t,
    await offerFor("0x0000000000000000000000000000000000000004", aliceWallet),
    refused,
    "a precompile",
  );
  const undeployed = await offerFor(bobWallet.address, aliceWallet, "6492".repeat(16));
  isRefused(
    t,
    undeployed,
    { ...refused, detail: /not deployed \(EIP-6492\).*deploy the wallet/ },
    "not deployed",
  );
  isRefused(t, await offerFor(bobWallet.address, aliceWallet), refused, "no code there");
});

const phrase = "test test test test test test test test test test test junk";

t.test("bodies that are none are told what is expected", async (t) => {
  const message = messageOf(await askNonce(api), { address });
  const bodies: [unknown, number, string | undefined][] = [
    [{ message }, 400, "/signature"],
    [{ message, signature: 5 }, 400, "/signature"],
    [{ message: 5, signature: "0x00" }, 400, "/message"],
    [{ message: "x".repeat(2001), signature: "0x00" }, 400, "/message"],
    [{ message, signature: "0x00", admin: true }, 400, "/admin"],
    [[], 400, ""],
    ["null", 400, ""],
    ["{", 400, undefined],
    [JSON.stringify({ message, signature: `0x${"0".repeat(70_000)}` }), 413, undefined],
  ];
  for (const [body, status, pointer] of bodies) {
    const answer = await send(api, sessionPath, { body });
    const found = problem.parse(answer.json);
    t.equal(found.status, status, answer.text);
    if (pointer !== undefined) t.equal(found.errors?.[0]?.pointer, pointer, answer.text);
    t.notMatch(answer.text, wordsOfLibraries);
  }
  t.equal((await send(api, `${sessionPath}/nonce`, { body: { a: 1 } })).status, 400);
  t.equal((await send(api, `${sessionPath}/nonce`)).status, 415);
});
