import { Transaction } from "ethers";
import t from "tap";
import { feeCollectorInterface } from "../../../../lib/fee-collector/artifacts.ts";
import { reservePort } from "../../../../scripts/processes/reserved-port.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { wordsOfLibraries } from "../../support/problem.ts";
import { bob, startServices } from "../../support/start-world.ts";
import { type Lie, startLyingNode } from "../support/lying-node.ts";
import { type RpcReply, sign, startPayerRpc } from "./support/start-payer-rpc.ts";

/* A gateway, or what stands in its place, that is slow, lies or says too much. */

const { upstream, ...services } = await startServices(t);
const gateway = await startLyingNode(t, { upstream });
const rig = await startPayerRpc(t, {
  given: { ...services, upstream: gateway.url },
  change: (config) => ({
    ...config,
    trustedProxies: ["127.0.0.1"],
    payerRpc: {
      ...config.payerRpc,
      ...{ callsPerMinute: 100_000, inFlightMax: 4, inFlightPerClientMax: 2, timeoutMs: 5000 },
    },
  }),
});
const { call } = rig;
const by = (address: string) => ({ headers: { "X-Forwarded-For": address } });
const address = (digit: string) => `0x${digit.repeat(40)}`;

/** Changes the results of one method. */
const lieAbout =
  (name: string, lie: Lie): Lie =>
  (asked) =>
    asked.method === name ? lie(asked) : asked.result;

t.test(
  "a slow gateway is waited for by few calls of a client and of all; others are told at once",
  async (t) => {
    const held: (() => void)[] = [];
    gateway.tell(
      lieAbout("eth_getBalance", ({ result }) => new Promise((resolve) => held.push(() => resolve(result)))),
    );
    const ask = (digit: string, from: string) => call("eth_getBalance", [address(digit), "latest"], by(from));
    const waiting = [ask("1", "192.0.2.1"), ask("2", "192.0.2.1")];
    await waitFor("two wait", () => held.length === 2);
    const third = await ask("3", "192.0.2.1");
    t.match([third.status, third.error], [429, { code: -32005, message: /^Too many calls of this address/ }]);
    waiting.push(ask("4", "192.0.2.2"), ask("5", "192.0.2.2"));
    await waitFor("four wait", () => held.length === 4);
    const fifth = await ask("6", "192.0.2.3");
    t.match([fifth.status, fifth.error], [503, { code: -32002, message: /^Too many calls are waiting/ }]);
    t.ok(fifth.headers.has("retry-after"));
    t.equal((await call("eth_chainId", [], by("192.0.2.3"))).result, "0x228d");
    t.equal(
      (await rig.api.get("/api/v1/blocks/latest")).status,
      200,
      "the api's own questions are not held up",
    );
    for (const release of held) release();
    for (const answer of await Promise.all(waiting)) t.equal(answer.result, "0x0");
    gateway.tell(undefined);
    t.equal((await ask("7", "192.0.2.3")).result, "0x0", "and all is free again");
  },
);

t.test("what is the same for everybody is asked once a block", async (t) => {
  let asked = 0;
  gateway.tell(
    lieAbout("eth_gasPrice", ({ result }) => {
      asked += 1;
      return result;
    }),
  );
  const all = () =>
    Promise.all(Array.from({ length: 30 }, (_, at) => call("eth_gasPrice", [], by(`198.51.100.${at + 1}`))));
  for (const { result } of [...(await all()), ...(await all())]) t.match(result, /^0x[0-9a-f]+$/);
  t.ok(asked <= 3, `${asked} times, once a second at most`);
  const before = asked;
  await rig.anvil.rpc("evm_mine");
  await waitFor("it is asked again", async () => {
    await call("eth_gasPrice");
    return asked > before;
  });
  gateway.tell(undefined);
});

function isAway(answer: RpcReply): boolean {
  return answer.status === 503 && answer.error?.code === -32002 && answer.result === undefined;
}

t.test("an answer that cannot be one is none", async (t) => {
  const { pay } = await rig.invoice();
  const raw = await sign(await rig.payer(), pay);
  const { hash } = Transaction.from(raw);
  const other = `0x${"ab".repeat(32)}`;
  const huge = "x".repeat(3_000_000);
  const lies: [method: string, params: unknown[], result: unknown][] = [
    ["eth_getBalance", [bob, "latest"], "a lot"],
    ["eth_getBalance", [bob, "latest"], 7],
    ["eth_getBalance", [bob, "latest"], { toString: "0x1" }],
    ["eth_getTransactionCount", [bob, "latest"], `0x${"f".repeat(64)}`],
    ["eth_getCode", [bob, "latest"], "0x0"],
    ["eth_getCode", [bob, "latest"], huge],
    ["eth_maxPriorityFeePerGas", [], "<script>"],
    ["eth_getBlockByHash", [other, false], { hash, number: "0x1" }],
    ["eth_getTransactionReceipt", [other], { transactionHash: hash, status: "0x1" }],
    ["eth_getTransactionByHash", [other], { hash }],
    ["eth_feeHistory", ["0x1", "latest", []], []],
    ["eth_sendRawTransaction", [raw], other],
  ];
  for (const [method, params, result] of lies) {
    gateway.tell(lieAbout(method, () => result));
    const answer = await call(method, params);
    t.ok(isAway(answer), `${method} ${JSON.stringify(result).slice(0, 80)}: ${answer.text.slice(0, 200)}`);
    t.notMatch(answer.text, wordsOfLibraries);
  }
  gateway.tell(undefined);
});

t.test("which network this is is not the gateway's to say", async (t) => {
  gateway.tell(lieAbout("eth_chainId", () => "0x1"));
  t.equal((await call("eth_chainId")).result, "0x228d");
  t.equal((await call("net_version")).result, "8845");
  gateway.tell(undefined);
});

t.test(
  "what the contract reverts with is passed on as bytes, by which a wallet knows the reason",
  async (t) => {
    const { pay } = await rig.invoice();
    const { error } = await call("eth_call", [
      { from: bob, to: pay.to, data: pay.data, value: "0x1" },
      "latest",
    ]);
    t.match(error, { code: 3, message: String });
    t.equal(feeCollectorInterface.parseError(String(error?.data))?.name, "WrongAmount");
  },
);

t.test("a gateway that is away is said to be, and one that is back is asked", async (t) => {
  gateway.moveTo(`http://127.0.0.1:${await reservePort()}`);
  gateway.tell(undefined);
  const answer = await call("eth_getBalance", [bob, "latest"]);
  t.ok(isAway(answer), answer.text);
  gateway.moveTo(upstream);
  t.match((await call("eth_getBalance", [bob, "latest"])).result, /^0x/);
});
