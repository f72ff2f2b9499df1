import { FetchRequest, JsonRpcProvider, parseEther, Wallet } from "ethers";
import t from "tap";
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  parseEther as parseEtherViem,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { startAnvil } from "../helpers/anvil.ts";
import { qaKey, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";

/** The first two of the public development accounts that every dev chain has. */
const sender = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80" as const;
const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" as const;

t.test("wallet libraries, with only URL and header set", async (t) => {
  const [redis, chain] = await Promise.all([startRedis(t), startAnvil(t)]);
  const gateway = await startGateway(t, { redisUrl: redis.url, upstreams: [chain.url] });

  t.test("ethers 6: chain id, balance, send and wait", async (t) => {
    const request = new FetchRequest(gateway.url);
    request.setHeader("X-API-Key", qaKey);
    const provider = new JsonRpcProvider(request, undefined, { pollingInterval: 100, cacheTimeout: -1 });
    t.teardown(() => provider.destroy());
    t.equal((await provider.getNetwork()).chainId, 8845n);
    const before = await provider.getBalance(receiver);
    const wallet = new Wallet(sender, provider);
    const sent = await wallet.sendTransaction({ to: receiver, value: parseEther("1") });
    const receipt = await sent.wait();
    t.equal(receipt?.status, 1);
    t.equal(await provider.getBalance(receiver), before + parseEther("1"));
  });

  t.test("viem: chain id, balance, send and wait", async (t) => {
    const transport = http(gateway.url, { fetchOptions: { headers: { "X-API-Key": qaKey } } });
    const network = defineChain({
      id: 8845,
      name: "Tollgate",
      nativeCurrency: { name: "Test", symbol: "TST", decimals: 18 },
      rpcUrls: { default: { http: [gateway.url] } },
    });
    const reader = createPublicClient({ chain: network, transport, pollingInterval: 100 });
    const account = privateKeyToAccount(sender);
    const wallet = createWalletClient({ chain: network, transport, account });
    t.equal(await reader.getChainId(), 8845);
    const before = await reader.getBalance({ address: receiver });
    const hash = await wallet.sendTransaction({ to: receiver, value: parseEtherViem("2") });
    const receipt = await reader.waitForTransactionReceipt({ hash });
    t.equal(receipt.status, "success");
    t.equal(await reader.getBalance({ address: receiver }), before + parseEtherViem("2"));
  });

  t.test("without a key both end in their own clear error", async (t) => {
    const provider = new JsonRpcProvider(gateway.url, 8845, { staticNetwork: true });
    t.teardown(() => provider.destroy());
    await t.rejects(provider.getBlockNumber(), { message: /401/ });
    const reader = createPublicClient({ transport: http(gateway.url, { retryCount: 0 }) });
    await t.rejects(reader.getBlockNumber(), { message: /X-API-Key/ });
  });
});
