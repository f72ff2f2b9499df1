import { setTimeout as sleep } from "node:timers/promises";
import { Interface } from "ethers/abi";
import { Transaction } from "ethers/transaction";
import t, { type Test } from "tap";
import { createPublicClient, getAddress, parseAbi } from "viem";
import { developmentWallet, signed } from "../fakes/validators/rpc.ts";
import { startValidators } from "../fakes/validators/start-validators.ts";
import { type GatewayUnderTest, qaKey, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { tallyBytecode, tallyInterface } from "./contract/tally.ts";
import { connectWebSocket as connectEthers } from "./examples/ethers-websocket.ts";
import { tollgate } from "./examples/viem.ts";
import { webSocketTransport } from "./examples/viem-websocket.ts";
import { connectWebSocket as connectWeb3 } from "./examples/web3-websocket.ts";
import { memberAt } from "./member-at.ts";
import { type WebSocketBehaviour, webSocketBehaviours } from "./web-socket-behaviours.ts";

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
  const ask = async (method: string, params: readonly unknown[]) => {
    const answer = await validators.anvil.ask(method, [...params]);
    return "result" in answer ? answer.result : undefined;
  };
  /** Sends again what is not mined: the stand-ins drop what comes while they make a block. */
  const send = async (changes: { to: string | null; data: string; gasLimit?: number }) => {
    const raw = await signed(wallet, nonce, { gasLimit: 1_000_000, value: 0n, ...changes });
    const { hash } = Transaction.from(raw);
    nonce += 1;
    let attempt = 0;
    const receipt = await waitFor(
      `${hash} is mined`,
      async () => {
        if (attempt % 10 === 0) await ask("eth_sendRawTransaction", [raw]);
        attempt += 1;
        const found = await ask("eth_getTransactionReceipt", [hash]);
        return typeof found === "object" && found;
      },
      { everyMs: 100 },
    );
    return { hash, receipt };
  };
  const { receipt } = await send({ to: null, data: `${tallyBytecode}${"0".repeat(64)}` });
  const tally = memberAt(receipt, "contractAddress");
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
    raise: async () => (await send({ to: tally, data: tallyAbi.encodeFunctionData("raise", [1n]) })).hash,
    async restart() {
      await gateway?.stop();
      await start();
    },
  };
}

/** One client that listens. */
type Listener = {
  heads: number[];
  /** Hashes of the transactions that caused them. */
  logs: unknown[];
  /** What its user is told when the connection ends, in the words of the table. */
  told: Promise<string>;
  close(): unknown;
};
type Rig = Awaited<ReturnType<typeof startRig>>;

const listeners: Record<WebSocketBehaviour["client"], (rig: Rig) => Promise<Listener>> = {
  async ethers({ url, tally }) {
    const provider = connectEthers({ url, key });
    const told = new Promise<string>((resolve) => {
      const { websocket } = provider;
      if (!(websocket instanceof WebSocket)) throw new Error("not the socket that was made");
      websocket.addEventListener("close", ({ code }) => resolve(`close of provider.websocket, ${code}`));
    });
    const [heads, logs]: [number[], string[]] = [[], []];
    await provider.on("block", (number) => heads.push(number));
    await provider.on({ address: tally }, ({ transactionHash }) => logs.push(transactionHash));
    return { heads, logs, told, close: () => provider.destroy() };
  },

  async viem({ url, tally }) {
    // It gives up where its first attempt fails, so that comes when the gateway is surely back.
    const transport = webSocketTransport({ url, key, reconnect: { delay: 3000 } });
    const client = createPublicClient({ chain: tollgate, transport });
    // Two watches that begin before it is connected may open a socket each, of which only one can be closed.
    const connection = await client.transport.getRpcClient();
    const [heads, logs]: [number[], (string | null)[]] = [[], []];
    const watches: (() => void)[] = [];
    const told = new Promise<string>((resolve) => {
      watches.push(
        client.watchBlockNumber({
          onBlockNumber: (number) => heads.push(Number(number)),
          onError: ({ name }) => resolve(`${name} in onError`),
        }),
      );
    });
    watches.push(
      client.watchContractEvent({
        address: getAddress(tally),
        abi,
        eventName: "Raised",
        onLogs: (found) => logs.push(...found.map(({ transactionHash }) => transactionHash)),
      }),
    );
    const close = async () => {
      for (const stop of watches) stop();
      // A call that is under way when it is closed would be tried again over a socket of its own.
      await sleep(500);
      connection.close();
    };
    return { heads, logs, told, close };
  },

  async "web3.js"({ url, tally }) {
    const web3 = connectWeb3({ url, key });
    const [heads, logs]: [number[], unknown[]] = [[], []];
    const ofHeads = await web3.eth.subscribe("newBlockHeaders");
    ofHeads.on("data", ({ number }) => void heads.push(Number(number)));
    const ofLogs = await web3.eth.subscribe("logs", { address: tally });
    ofLogs.on("data", ({ transactionHash }) => void logs.push(transactionHash));
    // It takes a clean 1001 for a goodbye; with a connection that breaks off it would connect again.
    const told = new Promise<string>((resolve) => {
      web3.currentProvider?.on("disconnect", (error) =>
        resolve(`disconnect of its provider, ${memberAt(error, "code")}`),
      );
    });
    return { heads, logs, told, close: () => web3.currentProvider?.disconnect() };
  },
};

/** Resolves when `list` is so long. */
async function reached(list: readonly unknown[], length: number): Promise<void> {
  await waitFor(`${length} of them come`, () => list.length >= length);
}

const isWithoutGaps = (numbers: readonly number[]) =>
  numbers.every((number, index) => index === 0 || number === (numbers[index - 1] ?? 0) + 1);

t.test("wallet libraries over WebSocket", async (t) => {
  const rig = await startRig(t);

  for (const { client, tells, afterRestart } of webSocketBehaviours) {
    t.test(`${client}: heads and logs; after a restart it ${afterRestart}`, async (t) => {
      const first = await listeners[client](rig);
      t.teardown(first.close);
      await reached(first.heads, 2);
      const sent = [await rig.raise(), await rig.raise()];
      await reached(first.logs, 2);
      t.same(first.logs, sent);
      await reached(first.heads, 5);
      t.ok(isWithoutGaps(first.heads), first.heads.join());
      await rig.restart();
      t.equal(await first.told, tells);

      const headsBefore = first.heads.length;
      let second = first;
      if (afterRestart === "has to be made anew") {
        second = await listeners[client](rig);
        t.teardown(second.close);
      }
      const logsBefore = second.logs.length;
      await reached(second.heads, (second === first ? headsBefore : 0) + 3);
      sent.push(await rig.raise());
      await reached(second.logs, logsBefore + 1);
      t.equal(second.logs.at(-1), sent.at(-1));
      if (second !== first) t.equal(first.heads.length, headsBefore, "the first one hears nothing more");
    });
  }
});
