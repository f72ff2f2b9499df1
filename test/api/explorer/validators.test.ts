import { randomUUID } from "node:crypto";
import { getAddress } from "ethers";
import t from "tap";
import { fifthIsAway, sealedBlocks, sealers, startScriptedNode } from "../../fakes/sealed-chain.ts";
import { createDatabase } from "../../helpers/postgres.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startApi } from "../support/start-api.ts";

const addressOf = (index: number) => getAddress(String(sealers[index]?.address));
const blocks = sealedBlocks(fifthIsAway(12)).map(({ json }) => json);
const newest = blocks.length - 1;
const newestMs = Number(blocks[newest]?.["timestamp"]) * 1000;
const answers: Readonly<Record<string, string>> = {
  eth_gasPrice: "0x7",
  eth_getBalance: "0x0",
  eth_getTransactionCount: "0x0",
  eth_getCode: "0x",
  eth_blockNumber: `0x${newest.toString(16)}`,
  net_peerCount: "0x4",
};
const headers = { Accept: "text/html" };

const scripted = () =>
  startScriptedNode(t, {
    blocks,
    change: ({ method, result }) => answers[method] ?? result,
  });
const [redis, node, second, third, postgresUrl] = await Promise.all([
  startRedis(t),
  scripted(),
  scripted(),
  scripted(),
  createDatabase(t),
]);
const clock = { ms: newestMs + 1000 };
const api = await startApi(t, {
  redisUrl: redis.url,
  postgresUrl,
  upstream: node.url,
  change: (config) => ({
    ...config,
    sealSources: [second.url, third.url],
    names: { [addressOf(0)]: "validator-1", [addressOf(4)]: "validator-5" },
  }),
  now: () => clock.ms,
});
await waitFor("the index has all blocks", async () =>
  (await api.get("/api/v1/blocks?limit=1")).text.includes(`"indexedBlock":${newest}`),
);
const text = async (path: string) => (await api.get(path, headers)).text;

t.test("the home page has a dot a validator, filled where it sealed", async (t) => {
  const page = await text("/");
  t.equal(page.match(/class="dot sealed"/g)?.length, 4);
  t.equal(page.match(/class="dot silent"/g)?.length, 1);
  t.match(page, "4 of 5 sealed the newest block");
  t.match(page, /class="dot silent"[^>]+title="validator-5"/);
});

t.test("a block says who sealed it, who did not, and whose turn passed", async (t) => {
  const usual = await text("/block/2");
  t.match(usual, "0: the first proposer&#39;s block was taken");
  const late = await text("/block/5");
  t.match(late, "1: so many proposers before did not answer in time");
  t.match(late, /Missed their turn<\/dt><dd><ul.*?validator-5/s);
  t.match(late, "4 of 5 validators have to seal");
});

t.test("the ranking shows the one that is away last, with its formula and a strip of blocks", async (t) => {
  const page = await text("/validators");
  const names = [...page.matchAll(/<td>(?:<span class="account">).*?<a href="[^"]+">.*?title="(0x\w+)"/gs)];
  t.equal(names.length, 5);
  t.equal(names.at(-1)?.[1], addressOf(4));
  t.match(page, "1000 × (0.8 × proposed ÷ turns");
  t.equal(page.match(/<rect class="proposer-\d"/g)?.length, newest, "a bar a block");
  const away = await text(`/validator/${addressOf(4)}`);
  t.match(away, "Validator validator-5");
  t.match(away, /Missed turns<\/dt><dd>2<\/dd>/);
  t.equal(away.match(/<rect class="absent"/g)?.length, newest);
  t.match(await text(`/address/${addressOf(0)}`), "What it does as a validator");
});

t.test("the network's health tells how near its edge it is, and a stall with what to do", async (t) => {
  const page = await text("/network/health");
  t.match(page, "The chain goes on.");
  t.match(page, /Validators that take part<\/dt><dd>4 of 5/);
  t.match(page, "At the edge: one more validator away, and the chain stands still.");
  t.match(page, "2 of the last 11 blocks needed a further round.");
  t.equal(page.match(/class="status failed"/g)?.length, 1);
  t.equal(page.match(/<rect class="proposer-\d"/g)?.length, newest, "who proposed, a bar a block");
  t.match(
    page,
    /RPC 2<\/th>\s+<td>.*?Answers<\/span><\/td>\s+<td class="number"><a href="..\/block\/11">11<\/a>/s,
  );
  second.setDown(true);
  third.setChange(({ method, number, result }) => (number === 0 ? blocks[1] : (answers[method] ?? result)));
  const tells = (what: RegExp) => async () => what.test(await text(`/network/health?${randomUUID()}`));
  await waitFor("a silent validator is told of", tells(/RPC 1<\/th>\s+<td>[^\n]+Silent<\/span>/));
  await waitFor("one of another network is, too", tells(/RPC 2<\/th>\s+<td>[^\n]+Another network<\/span>/));
  t.match(await text("/network/health?quorum"), "3 of 5 validators take part: too few for a block.");
  t.notMatch(
    await text("/network/health?url"),
    new URL(second.url).port,
    "no address of a validator is told",
  );
  clock.ms = newestMs + 60_000;
  // The chain's age is part of what is told for one head: it is told anew after a while.
  await waitFor("the page tells of the stall", async () =>
    (await text("/network/health?again")).includes("The chain has stalled: the newest block is 60 s old."),
  );
  t.match(await text("/network/health?again"), "npm run network -- recover");
  t.match(await text("/?again"), /role="alert">The chain has stalled.*href="\.\/network\/health#stall"/s);
});
