import t from "tap";
import { network, walletConfiguration } from "../../../lib/network.ts";
import { ask, startProxy, startTarget } from "./rig.ts";

t.test("/network.json is the published shape, with the proxy's own addresses", async (t) => {
  const target = await startTarget(t);
  const { port, url } = await startProxy(t, { gatewayUrl: target.url });
  const { status, headers, body } = await ask(port, {
    method: "GET",
    path: "/network.json",
    headers: { Origin: "http://localhost:3000" },
  });
  t.equal(status, 200);
  t.match(headers, {
    "content-type": "application/json",
    "access-control-allow-origin": "http://localhost:3000",
  });
  t.equal(url, `http://127.0.0.1:${port}/`);
  t.strictSame(JSON.parse(body), {
    chainId: "0x228d",
    chainName: "Tollgate Testnet",
    nativeCurrency: { name: "Testnet Token", symbol: "TEST", decimals: 18 },
    rpcUrls: [url],
    blockExplorerUrls: [`${url}explorer/`],
  });
  const head = await ask(port, { method: "HEAD", path: "/network.json" });
  t.equal(head.status, 200);
  t.equal(head.body, "");
  t.same(target.requests, [], "the gateway was not asked");
});

t.test(
  "wallets and the page are told of the explorer and the faucet that the configuration names",
  async (t) => {
    const target = await startTarget(t);
    const told = { explorerUrl: "https://explorer.example/", faucetUrl: "https://faucet.example/?a=1&b=2" };
    const { port } = await startProxy(t, { gatewayUrl: target.url, ...told });
    const { body } = await ask(port, { method: "GET", path: "/network.json" });
    t.match(JSON.parse(body), { blockExplorerUrls: [told.explorerUrl] });
    const page = await ask(port, { method: "GET" });
    t.match(page.body, ' href="https://explorer.example/"');
    t.match(page.body, ' href="https://faucet.example/?a=1&amp;b=2"');

    const untold = await startProxy(t, { gatewayUrl: target.url });
    const own = await ask(untold.port, { method: "GET" });
    t.match(own.body, ' href="/explorer/"');
    t.notMatch(own.body, "test tokens", "there is no link to nowhere");
  },
);

t.test("the hex form is the number's, and not the one that was once printed", async (t) => {
  const { chainId } = walletConfiguration({ rpcUrl: "http://a/", explorerUrl: "http://b/" });
  t.equal(Number(chainId), network.chainId);
  t.not(chainId, "0x2285");
});
