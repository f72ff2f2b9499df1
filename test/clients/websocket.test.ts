import { setTimeout as sleep } from "node:timers/promises";
import { Interface } from "ethers";
import t, { type Test } from "tap";
import { createPublicClient, getAddress, parseAbi } from "viem";
import { type GatewayUnderTest, qaKey, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { developmentWallet, signed } from "../helpers/validators/rpc.ts";
import { startValidators } from "../helpers/validators/start-validators.ts";
import { tallyBytecode, tallyInterface } from "./contract/tally.ts";
import { connectWebSocket as connectEthers } from "./examples/ethers-websocket.ts";
import { tollgate } from "./examples/viem.ts";
import { webSocketTransport } from "./examples/viem-websocket.ts";
import { connectWebSocket as connectWeb3 } from "./examples/web3-websocket.ts";

const abi = parseAbi(tallyInterface);
const tallyAbi = new Interface(tallyInterface);
const key = qaKey;

/** A gateway that can be restarted at its address, and a contract behind it whose event anybody can cause. */
async function startRig(t: Test) {
  const [redis, validators] = await Promise.all([
    startRedis(t),
    startValidators(t, { count: 2, blockTimeMs: 300 }),
  ]);
  const wallet = developmentWallet(0);
  let nonce = 0;
  const send = async (changes: { to: string | null; data: string; gasLimit?: number }) => {
    const raw = await signed(wallet, nonce, { gasLimit: 1_000_000, value: 0n, ...changes });
    nonce += 1;
    const answer = await validators.anvil.ask("eth_sendRawTransaction", [raw]);
    if (!("result" in answer)) throw new Error(JSON.stringify(answer));
    return answer.result;
  };
  const deployed = await send({ to: null, data: `${tallyBytecode}${"0".repeat(64)}` });
  await validators.mine(1);
  const receipt = await validators.anvil.ask("eth_getTransactionReceipt", [deployed]);
  const tally: unknown =
    "result" in receipt ? Reflect.get(Object(receipt.result), "contractAddress") : undefined;
  if (typeof tally !== "string") throw new Error("the contract is not there");

  let port = 0;
  let gateway: GatewayUnderTest | undefined;
  const start = async () => {
    const options = { redisUrl: redis.url, upstreams: validators.urls };
    gateway = await startGateway(t, { ...options, change: (config) => ({ ...config, port }) });
    port = gateway.port;
  };
  await start();
  return {
    url: `ws://127.0.0.1:${port}/`,
    tally,
    raise: () => send({ to: tally, data: tallyAbi.encodeFunctionData("raise", [1n]) }),
    async restart() {
      await gateway?.stop();
      await start();
    },
  };
}

/** Resolves when `list` has grown by so many. */
async function grown(list: readonly unknown[], by: number): Promise<void> {
  const wanted = list.length + by;
  for (let waited = 0; list.length < wanted; waited += 20) {
    if (waited > 10_000) throw new Error(`${list.length} of ${wanted} came`);
    await sleep(20);
  }
}

const isWithoutGaps = (numbers: readonly number[]) =>
  numbers.every((number, index) => index === 0 || number === (numbers[index - 1] ?? 0) + 1);

t.test("wallet libraries over WebSocket", async (t) => {
  const rig = await startRig(t);

  t.test("ethers: heads and logs; after a restart a new provider goes on", async (t) => {
    const open = async () => {
      const provider = connectEthers({ url: rig.url, key });
      const closed = new Promise<{ code: number }>((resolve) => {
        const { websocket } = provider;
        if (websocket instanceof WebSocket) websocket.addEventListener("close", resolve);
      });
      const [heads, logs]: [number[], string[]] = [[], []];
      await provider.on("block", (number) => heads.push(number));
      await provider.on({ address: rig.tally }, ({ transactionHash }) => logs.push(transactionHash));
      await grown(heads, 1);
      return { provider, heads, logs, closed };
    };
    const first = await open();
    const sent = [await rig.raise(), await rig.raise()];
    await grown(first.logs, 2 - first.logs.length);
    t.same(first.logs, sent);
    await grown(first.heads, 2);
    t.ok(isWithoutGaps(first.heads), first.heads.join());
    await rig.restart();
    t.equal((await first.closed).code, 1001);
    await first.provider.destroy();
    const second = await open();
    await grown(second.heads, 2);
    t.ok((second.heads[0] ?? 0) > (first.heads.at(-1) ?? 0));
    await second.provider.destroy();
  });

  t.test("viem: heads and logs; after a restart it connects and subscribes again by itself", async (t) => {
    const transport = webSocketTransport({ url: rig.url, key, reconnect: { delay: 200 } });
    const client = createPublicClient({ chain: tollgate, transport });
    const [heads, logs, errors]: [number[], (string | null)[], Error[]] = [[], [], []];
    const watches = [
      client.watchBlocks({
        onBlock: ({ number }) => heads.push(Number(number)),
        onError: (error) => errors.push(error),
      }),
      client.watchContractEvent({
        ...{ address: getAddress(rig.tally), abi, eventName: "Raised" },
        onLogs: (found) => logs.push(...found.map(({ transactionHash }) => transactionHash)),
      }),
    ];
    await grown(heads, 3);
    t.ok(isWithoutGaps(heads), heads.join());
    const sent = [await rig.raise()];
    await grown(logs, 1 - logs.length);
    await rig.restart();
    await grown(heads, 3);
    t.match(errors[0], { name: "SocketClosedError" });
    sent.push(await rig.raise());
    await grown(logs, 2 - logs.length);
    t.same(logs, sent);
    for (const stop of watches) stop();
    (await client.transport.getRpcClient()).close();
  });

  t.test("web3.js: heads and logs; after a restart it has to be connected again", async (t) => {
    const open = async () => {
      const web3 = connectWeb3({ url: rig.url, key });
      const [heads, logs]: [number[], unknown[]] = [[], []];
      const ofHeads = await web3.eth.subscribe("newBlockHeaders");
      ofHeads.on("data", ({ number }) => void heads.push(Number(number)));
      const ofLogs = await web3.eth.subscribe("logs", { address: rig.tally });
      ofLogs.on("data", ({ transactionHash }) => void logs.push(transactionHash));
      return { web3, heads, logs };
    };
    const first = await open();
    const sent = [await rig.raise()];
    await grown(first.logs, 1 - first.logs.length);
    t.same(first.logs, sent);
    await grown(first.heads, 3);
    t.ok(isWithoutGaps(first.heads), first.heads.join());
    const disconnected = new Promise((resolve) => first.web3.currentProvider?.on("disconnect", resolve));
    await rig.restart();
    // It takes a clean 1001 for a goodbye; with a connection that breaks off it would connect again.
    t.match(await disconnected, { code: 1001 });
    const second = await open();
    await grown(second.heads, 2);
    second.web3.currentProvider?.disconnect();
  });
});
