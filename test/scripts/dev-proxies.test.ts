import { once } from "node:events";
import t from "tap";
import { WebSocket } from "ws";
import { testFolder } from "../helpers/test-folder.ts";
import { startDev, startedDev } from "./dev-rig.ts";

t.test("npm start brings the wallet proxy and the internal RPC", async (t) => {
  const dev = await startedDev(t, { folder: testFolder(t) });
  const [wallet, internal] = [dev.ports.wallet, dev.ports.chain].map((port) => `http://127.0.0.1:${port}/`);
  if (wallet === undefined || internal === undefined) throw new Error("there are two");

  t.test("a wallet needs no key, and is kept to the gateway's methods", async (t) => {
    t.match(await ask(wallet, "eth_chainId"), { result: "0x228d" });
    t.match(await ask(wallet, "evm_mine"), { error: { code: -32601 } });
    const network = await fetch(`${wallet}network.json`);
    t.match(await network.json(), { chainId: "0x228d", rpcUrls: [wallet] });
    const page = await fetch(wallet);
    t.match(await page.text(), "Add the network to your wallet");
  });

  t.test("it leads to the explorer behind the gateway, and to the faucet", async (t) => {
    const page = await (await fetch(wallet)).text();
    t.match(page, ` href="http://127.0.0.1:${dev.ports.faucet}"`);
    const explorer = await fetch(`${wallet}explorer/network`);
    t.equal(explorer.status, 200);
    t.match(await explorer.text(), wallet, "and it back here");
  });

  t.test("it has a key that lets a wallet and a dapp ask often", async (t) => {
    const answers = await Promise.all(Array.from({ length: 150 }, () => ask(wallet, "eth_blockNumber")));
    t.same(
      answers.filter((answer) => answer.error !== undefined),
      [],
    );
  });

  t.test("the internal RPC is the dev chain itself, over HTTP and WebSocket", async (t) => {
    t.match(await ask(internal, "anvil_nodeInfo"), { result: { environment: { chainId: 8845 } } });
    const socket = new WebSocket(internal.replace("http:", "ws:"));
    await once(socket, "open");
    socket.send('{"jsonrpc":"2.0","id":1,"method":"hardhat_metadata","params":[]}');
    const [message] = await once(socket, "message");
    t.match(JSON.parse(String(message)), { id: 1, result: { chainId: 8845 } });
    socket.terminate();
  });

  t.test("a web page elsewhere is refused, and the terminal says so", async (t) => {
    const headers = { Origin: "https://evil.example" };
    for (const url of [wallet, internal])
      t.equal((await fetch(url, { method: "POST", headers })).status, 403);
    await dev.prints("https://evil.example");
    t.match(dev.printed(), /wallet {3}│ .*a web page was refused/);
    t.match(dev.printed(), /rpc {6}│ .*a web page was refused/);
  });

  t.test("it stops with a WebSocket still open, and both ports are free", async (t) => {
    const socket = new WebSocket(internal.replace("http:", "ws:"));
    await once(socket, "open");
    const closed = once(socket, "close");
    dev.signal("SIGINT");
    t.same(await dev.ended, { code: 0, signal: null });
    await closed;
    for (const url of [wallet, internal]) await t.rejects(fetch(url));
  });
});

t.test(
  "in the production profile there is neither: no key stands in the file, and nobody mines at will",
  async (t) => {
    const methodsFile = new URL("../../config/methods.yaml", import.meta.url).pathname;
    const folder = testFolder(t, {
      "gateway.yaml": `profile: production
port: \${GATEWAY_PORT}
ops:
  port: \${GATEWAY_OPS_PORT}
redis: \${REDIS_URL}
upstreams: \${UPSTREAMS}
methodsFile: ${methodsFile}
`,
    });
    const dev = await startDev(t, { folder, args: ["--config", "gateway.yaml"] });
    await dev.prints("Ctrl-C stops everything");
    t.notMatch(dev.printed(), /internal RPC|wallet proxy/);
    for (const port of [dev.ports.chain, dev.ports.wallet])
      await t.rejects(fetch(`http://127.0.0.1:${port}/`));
  },
);

type Answer = { result?: unknown; error?: unknown };

async function ask(url: string, method: string): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] }),
  });
  const answer: Answer = JSON.parse(await response.text());
  return answer;
}
