import { test } from "tap";
import { readTokenMetadata } from "../../../api/follower/token-metadata.ts";
import { createRpcClient, type RpcAnswer } from "../../../lib/chain/rpc-client.ts";
import { startOwnFollower } from "../../../scripts/soak/follower-crashes/own-follower.ts";
import { readIndex } from "../../../scripts/soak/follower-crashes/read-index.ts";
import { type TokenAnswer, tokenCode } from "../../fakes/token/token-code.ts";
import { abiNumber, abiText, tokenLogs } from "../../fakes/token/token-logs.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { createDatabase } from "../../helpers/postgres.ts";

const alice = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const hex = (text: string) => Buffer.from(text).toString("hex");
const returns = (bytes: string): TokenAnswer => ({ returns: bytes });
const word = (value: number) => value.toString(16).padStart(64, "0");

const texts: Record<string, { answer: TokenAnswer; name: string | null }> = {
  "a plain one": { answer: returns(abiText("Gold")), name: "Gold" },
  "one of 32 bytes, filled up with zeros": {
    answer: returns(`0x${hex("Maker").padEnd(64, "0")}`),
    name: "Maker",
  },
  "an empty one": { answer: returns(abiText("")), name: null },
  "one of blanks": { answer: returns(abiText(" \t ")), name: null },
  "one with NUL, line ends and marks that turn its direction": {
    answer: returns(abiText("A\u0000B\n\u202eC\u2066D")),
    name: "ABCD",
  },
  "a very long one": { answer: returns(abiText("é".repeat(5000))), name: "é".repeat(100) },
  "one cut inside a character": { answer: returns(abiText("😀".repeat(200))), name: "😀".repeat(100) },
  "one that is no UTF-8": {
    answer: returns(`0x${word(32)}${word(3)}${"ff41fe".padEnd(64, "0")}`),
    name: "�A�",
  },
  "a length beyond what it returns": {
    answer: returns(`0x${word(32)}${word(1000)}${hex("Gold").padEnd(64, "0")}`),
    name: null,
  },
  "an offset of 256 bits": { answer: returns(`0x${"ff".repeat(32)}${word(4)}${word(0)}`), name: null },
  "a length of 256 bits": { answer: returns(`0x${word(32)}${"ff".repeat(32)}${word(0)}`), name: null },
  "one byte": { answer: returns("0x41"), name: null },
  nothing: { answer: returns("0x"), name: null },
  "a revert": { answer: "reverts", name: null },
  "an endless loop": { answer: "loops", name: null },
  "an invalid instruction": { answer: "is invalid", name: null },
  "a megabyte": { answer: "returns a megabyte", name: null },
};

test("whatever a contract answers for its name, the index has a short clean text or none", async (t) => {
  const anvil = await startAnvil(t);
  const rpc = createRpcClient({ url: anvil.url, timeoutMs: 10_000 });
  t.teardown(() => rpc.stop());
  const cases = Object.entries(texts).map(([what, { answer, name }], index) => ({
    ...{ what, answer, name },
    address: `0x${(0xaa00 + index).toString(16).padStart(40, "0")}`,
  }));
  for (const { address, answer } of cases) {
    await anvil.rpc("anvil_setCode", [
      address,
      tokenCode({ name: answer, symbol: answer, decimals: answer }),
    ]);
  }
  const found = await readTokenMetadata({
    rpc,
    tokens: cases.map(({ address }) => ({ address, kind: "erc20" })),
  });
  for (const [index, { what, name }] of cases.entries()) {
    t.equal(found[index]?.name, name, what);
    t.equal(found[index]?.symbol, name === null ? null : Array.from(name).slice(0, 32).join(""), what);
  }
});

test("decimals are a number up to 255, of ERC-20 only", async (t) => {
  const anvil = await startAnvil(t);
  const rpc = createRpcClient({ url: anvil.url, timeoutMs: 10_000 });
  t.teardown(() => rpc.stop());
  const address = `0x${"ab".repeat(20)}`;
  const decimalsOf = async (value: bigint, kind: "erc20" | "erc721") => {
    await anvil.rpc("anvil_setCode", [address, tokenCode({ decimals: returns(abiNumber(value)) })]);
    return (await readTokenMetadata({ rpc, tokens: [{ address, kind }] }))[0]?.decimals;
  };
  t.equal(await decimalsOf(18n, "erc20"), 18);
  t.equal(await decimalsOf(255n, "erc20"), 255);
  t.equal(await decimalsOf(256n, "erc20"), null);
  t.equal(await decimalsOf(2n ** 255n, "erc20"), null);
  t.equal(await decimalsOf(18n, "erc721"), null);
});

test("a gateway's refusal is no contract's answer, until only this contract is refused", async (t) => {
  const token = { address: `0x${"ab".repeat(20)}`, kind: "erc20" } as const;
  const refusal: RpcAnswer = { error: { code: -32002, message: "no validator", ofGateway: true } };
  const gateway = (refused: "tokens" | "all") => ({
    askAll: async (calls: readonly { method: string; params: readonly unknown[] }[]) =>
      calls.map((call): RpcAnswer => {
        const isToken = JSON.stringify(call).includes(token.address);
        return isToken || refused === "all" ? refusal : { result: "0x" };
      }),
  });
  await t.rejects(readTokenMetadata({ rpc: gateway("all"), tokens: [token] }));
  await t.rejects(readTokenMetadata({ rpc: gateway("tokens"), tokens: [token] }));
  await t.rejects(readTokenMetadata({ rpc: gateway("all"), tokens: [token], isLastTry: true }));
  t.same(await readTokenMetadata({ rpc: gateway("tokens"), tokens: [token], isLastTry: true }), [
    { name: null, symbol: null, decimals: null },
  ]);
});

test("a token with a hostile name is indexed with its transfers, and asked once", async (t) => {
  const [anvil, postgresUrl] = await Promise.all([startAnvil(t), createDatabase(t)]);
  const address = `0x${"ac".repeat(20)}`;
  await anvil.rpc("anvil_setCode", [
    address,
    tokenCode({ name: returns(abiText(`"}','\\x00 {NULL}\u0000`)), symbol: returns(abiText("NULL")) }),
  ]);
  const transfer = { from: alice, to: address, data: tokenLogs.erc20(alice, alice, 1n) };
  await anvil.rpc("eth_sendTransaction", [transfer]);
  const follower = await startOwnFollower(t, { url: anvil.url, postgresUrl });
  await follower.indexed(1);
  await anvil.rpc("anvil_setCode", [address, tokenCode({ name: returns(abiText("another")) })]);
  await anvil.rpc("eth_sendTransaction", [transfer]);
  await follower.indexed(2);
  const { token, transfer: transfers } = await readIndex(postgresUrl);
  t.match(token, [{ name: `"}','\\x00 {NULL}`, symbol: "NULL", decimals: null }]);
  t.equal(transfers.length, 2);
});
