import t, { type Test } from "tap";
import { type JsonObject, objects } from "./validators/json.ts";
import {
  ask,
  askObject,
  developmentWallet,
  openHeads,
  post,
  readHead,
  signed,
  within,
} from "./validators/rpc.ts";
import { startValidators } from "./validators/start-validators.ts";

const cluster = await startValidators(t);
const first = cluster.validator(0);
const second = cluster.validator(1);
const { url, wsUrl = "" } = first;
const bob = developmentWallet(1);
await cluster.mine(2);

const chainIdCall = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"eth_chainId","params":[]}`;
const three = `[${[1, 2, 3].map(chainIdCall).join(",")}]`;

t.test("garbage is status 200 with something that is no answer", async (t) => {
  first.garbage();
  t.match(await post(url, three), { status: 200, text: /^<html>/ });
  first.garbage("halfJson");
  await t.rejects(array());
  first.garbage("empty");
  t.match(await post(url, three), { status: 200, text: "" });
  first.garbage("wrongShape");
  t.strictSame(JSON.parse((await post(url, three)).text), { hello: ["world", 1] });
  first.garbage({ body: "null" });
  t.equal((await post(url, three)).text, "null");
  await answersAgain(t);
});

t.test("an error status comes with a page, and nothing is run", async (t) => {
  first.status(502);
  t.match(await post(url, three), { status: 502, text: /<html>/ });
  await post(
    url,
    `{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["${await signed(bob, 11)}"]}`,
  );
  await answersAgain(t);
  t.strictSame(first.pendingHashes(), []);
});

t.test("a cut body ends early, by its length, by its chunks, or never; its calls were run", async (t) => {
  for (const framing of ["length", "chunked"] as const) {
    first.cutBody(framing);
    await t.rejects(post(url, three), framing);
  }
  first.cutBody("stalled");
  const response = await fetch(url, { method: "POST", body: three });
  t.equal(response.status, 200);
  t.equal(await within(response.text().catch(() => "cut")), "pending");

  first.cutBody();
  const raw = await signed(bob, 12);
  await t.rejects(ask(url, "eth_sendRawTransaction", [raw]));
  await answersAgain(t);
  t.match(await ask(url, "eth_sendRawTransaction", [raw]), { error: { message: "Known transaction" } });
  await response.body?.cancel().catch(() => {});
});

t.test("a foreign chain shows by its id and genesis, and every answer from it is recognizable", async (t) => {
  const genesis = async () => {
    return (await askObject(url, "eth_getBlockByNumber", ["0x0", false]))["hash"];
  };
  const own = await genesis();
  first.foreignChain();
  t.strictSame(await ask(url, "eth_chainId"), { result: "0x1" });
  t.match(await genesis(), /^0x[0-9a-f]{64}$/);
  t.not(await genesis(), own);
  t.strictSame(await ask(url, "eth_getBalance", [bob.address, "latest"]), { result: "0xbad0" });
  const socket = await openHeads(wsUrl);
  const block = await cluster.mine();
  t.not(readHead(await socket.next())["hash"], block?.hash);
  await socket.close();

  first.foreignChain({ chainId: cluster.chainId });
  t.strictSame(await ask(url, "eth_chainId"), { result: "0x228d" });
  t.not(await genesis(), own);
  await answersAgain(t);
  t.equal(await genesis(), own);
});

t.test("ids can be wrong, missing or in another order", async (t) => {
  first.wrongIds();
  t.ok((await array()).every((answer) => typeof answer["id"] === "string"));
  t.match((await post(url, chainIdCall(1))).text, /"id":"not-1"/);
  await answersAgain(t);
  first.missingId();
  t.strictSame(
    (await array()).map((answer) => answer["id"]),
    [1, 3],
  );
  t.equal((await post(url, chainIdCall(1))).text, '{"jsonrpc":"2.0","result":"0x228d"}');
  await answersAgain(t);
  first.reorder();
  t.strictSame(
    (await array()).map((answer) => answer["id"]),
    [3, 2, 1],
  );
  await answersAgain(t);
});

t.test("poison refuses the whole array it is in; alone it gets an error of its own", async (t) => {
  const poisoned = three.replace("eth_chainId", "net_version");
  const refusal = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}';
  first.poison("net_version");
  t.match(await post(url, poisoned), { status: 200, text: refusal });
  t.match(await ask(url, "net_version"), { error: { code: -32602 } });
  t.equal((await array()).length, 3);
  await first.heal();
  first.poison(({ params }) => params[0] === "poison");
  t.equal((await array(poisoned)).length, 3);
  t.match(await post(url, three.replace("[]", '["poison"]')), { status: 200, text: refusal });
  await answersAgain(t);
  first.arrayAsErrorObject();
  t.match(await post(url, three), { status: 200, text: refusal });
  t.strictSame(await ask(url, "eth_chainId"), { result: "0x228d" });
  await answersAgain(t);
});

t.test("a method can be answered in the validator's place", async (t) => {
  const trace = JSON.stringify("x".repeat(200_000));
  first.answer("debug_traceTransaction", { result: trace });
  first.answer("eth_gasPrice", ([price]) =>
    price === undefined ? undefined : { result: JSON.stringify(price) },
  );
  t.equal(String((await ask(url, "debug_traceTransaction"))["result"]).length, 200_000);
  t.strictSame(await ask(url, "eth_gasPrice", ["0x7"]), { result: "0x7" });
  t.strictSame(await ask(url, "eth_gasPrice"), { result: "0x0" });
  await answersAgain(t);
});

/** The test's last word: whatever was wrong, a healed validator answers as the others do. */
async function answersAgain(t: Test): Promise<void> {
  await first.heal();
  t.strictSame(await ask(url, "eth_blockNumber"), await ask(second.url, "eth_blockNumber"));
  t.strictSame(
    (await array()).map((answer) => answer["id"]),
    [1, 2, 3],
  );
}

async function array(body = three): Promise<JsonObject[]> {
  return objects(JSON.parse((await post(url, body)).text));
}
