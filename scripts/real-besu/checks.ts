import { HDNodeWallet, Wallet } from "ethers";
import { WebSocket } from "undici";
import { z } from "zod";
import { openMethods } from "../../genesis/open-methods.ts";
import type { Rig } from "./rig.ts";

type Verdict = { ok: boolean | "not provable"; seen: string };

export type Check = {
  title: string;
  look: (options: { rig: Rig; short: boolean }) => Promise<Verdict>;
};

/** The public development accounts: the network is of the development profile. */
const phrase = "test test test test test test test test test test test junk";
const funded = HDNodeWallet.fromPhrase(phrase, undefined, "m/44'/60'/0'/0/4");
/** On the faucet's allowlist. */
const claimant = HDNodeWallet.fromPhrase(phrase, undefined, "m/44'/60'/0'/0/1");
const blockSchema = z.object({ hash: z.string() });
const minedSchema = z.object({ blockNumber: z.string() });
const claimSchema = z.object({ claim: z.object({ id: z.string(), status: z.string() }) });
const hashSchema = z.string().regex(/^0x[0-9a-f]{64}$/);
/** 0x5b600056: a loop without end, by which a trace fills the heap as long as gas lasts. */
const loop = "0x5b600056";
const poisonGas = "0x2faf080";
const noVanished = 'of the last answers none had "Method not found"';

/** In this order: each leaves the network as it found it. */
export const checks: readonly Check[] = [
  {
    title: "first block",
    async look({ rig }) {
      const { code, text, tookMs } = await rig.up();
      if (code !== 0) return { ok: false, seen: text };
      await rig.servicesReady();
      const found = /The network is up: (block \d+ after \d+ s)/.exec(text)?.[1] ?? text;
      return { ok: true, seen: `${found}; the command took ${Math.round(tookMs / 1000)} s` };
    },
  },
  {
    title: "genesis hash",
    async look({ rig }) {
      const hashes = await Promise.all(
        rig.nodes.map(async (_node, index) => {
          const answer = await rig.node(index, "eth_getBlockByNumber", ["0x0", false]);
          return blockSchema.safeParse(answer?.result).data?.hash;
        }),
      );
      const ok = hashes.every((hash) => hash === rig.manifest.genesisHash);
      return { ok, seen: ok ? `${rig.manifest.genesisHash} on all` : hashes.join(", ") };
    },
  },
  { title: "one killed", look: ({ rig, short }) => oneAway(rig, short, () => rig.kill(1)) },
  {
    title: "one stopped",
    look: ({ rig, short }) => oneAway(rig, short, async () => void (await rig.command("stop", "2"))),
  },
  { title: "two down, sends and a claim in between, recover", look: ({ rig }) => twoDown(rig) },
  {
    title: "all down",
    async look({ rig }) {
      const before = await rig.height();
      for (const index of rig.nodes.keys()) await rig.command("stop", String(index + 1));
      await rig.statusIs(1);
      const { code, text } = await rig.command("up");
      if (code !== 0) return { ok: false, seen: text };
      await rig.servicesReady();
      const seconds = await rig.until("a block more than before", async () => (await rig.height()) > before);
      return { ok: true, seen: `from block ${before} on, ${seconds} s after up` };
    },
  },
  {
    title: "one wiped",
    async look({ rig }) {
      const { code, text } = await rig.command("wipe", "3");
      if (code !== 0) return { ok: false, seen: text };
      const seconds = await rig.statusIs(0);
      return { ok: true, seen: `all is well again ${seconds} s after its restart` };
    },
  },
  { title: "a validator votes for its operator alone", look: ({ rig }) => votes(rig) },
  { title: "the methods that pass the gateway", look: ({ rig }) => variants(rig) },
  { title: "large answers", look: ({ rig, short }) => largeAnswers(rig, short) },
  { title: "subscriptions over a kill", look: ({ rig, short }) => subscriptions(rig, short) },
  { title: "poison traces", look: ({ rig }) => poison(rig) },
];

/** The gateway's callers notice nothing of a validator that goes. */
async function oneAway(rig: Rig, short: boolean, away: () => Promise<void>): Promise<Verdict> {
  const calls = short ? 100 : 5000;
  let failed = 0;
  const asking = (async () => {
    for (let index = 0; index < calls; index += 1) {
      const answer = await rig.gateway("eth_getBalance", [funded.address, "latest"]).catch(() => undefined);
      if (answer?.result === undefined) failed += 1;
    }
  })();
  await away();
  await asking;
  // Docker starts again what ended by itself.
  await rig.until("the validator that is missed", async () => (await rig.command("status")).code !== 1);
  await rig.command("start", "2");
  const seconds = await rig.statusIs(0);
  return {
    ok: failed === 0,
    seen: `${failed} of ${calls} calls failed; all is well ${seconds} s after its start`,
  };
}

async function send(rig: Rig, nonce: number): Promise<string> {
  const raw = await new Wallet(funded.privateKey).signTransaction({
    ...{ to: claimant.address, value: 1n, nonce, gasLimit: 21_000n, gasPrice: 0n },
    chainId: BigInt(rig.manifest.chainId),
  });
  return hashSchema.parse((await rig.gateway("eth_sendRawTransaction", [raw])).result);
}

async function isMined(rig: Rig, hash: string): Promise<boolean> {
  const { result } = await rig.gateway("eth_getTransactionReceipt", [hash]);
  return minedSchema.safeParse(result).success;
}

async function twoDown(rig: Rig): Promise<Verdict> {
  await rig.command("stop", "2");
  await rig.command("stop", "4");
  await rig.statusIs(1);
  const { result } = await rig.gateway("eth_getTransactionCount", [funded.address, "latest"]);
  const hashes: string[] = [];
  for (let sent = 0; sent < 6; sent += 1) hashes.push(await send(rig, Number(result) + sent));
  const claimed = await rig.ask(`${rig.faucetUrl}/claim`, { address: claimant.address, website: "" });
  const claim = claimSchema.safeParse(JSON.parse(claimed.text)).data?.claim;
  const recovered = await rig.command("recover");
  if (recovered.code !== 0) return { ok: false, seen: recovered.text };
  await rig.servicesReady();
  const seconds = await rig.until("all sends mined", async () => {
    const mined = await Promise.all(hashes.map((hash) => isMined(rig, hash)));
    return mined.every(Boolean);
  });
  const words = `${/after \d+ s/.exec(recovered.text)?.[0] ?? ""}; 6 of 6 sends mined ${seconds} s later`;
  if (claim === undefined) return { ok: false, seen: `${words}; the claim was refused: ${claimed.text}` };
  const paid = await rig.until("the claim paid", async () => {
    const response = await fetch(`${rig.faucetUrl}/claims/${claim.id}`, {
      headers: { Accept: "application/json" },
    });
    const now = claimSchema.parse(await response.json()).claim;
    if (now.status === "refused") throw new Error("the claim ended as refused");
    return now.status === "confirmed";
  });
  await rig.statusIs(0);
  return { ok: true, seen: `the next block came ${words}, the claim paid after ${paid} s` };
}

async function votes(rig: Rig): Promise<Verdict> {
  const nobody = `0x${"00".repeat(19)}aa`;
  const family = rig.manifest.consensus === "ibft2" ? "ibft" : "qbft";
  const stranger = await rig.node(0, `${family}_proposeValidatorVote`, [nobody, true]);
  const operator = await rig.command("rpc", "1", `${family}_proposeValidatorVote`, `["${nobody}", true]`);
  const back = await rig.command("rpc", "1", `${family}_discardValidatorVote`, `["${nobody}"]`);
  const ok = stranger?.error?.code === -40100 && operator.code === 0 && back.code === 0;
  const words = `without a token ${JSON.stringify(stranger?.error ?? stranger)}, with it ${operator.text.trim()}`;
  return { ok, seen: words };
}

/** Each with several kinds of parameters: a hundred variants and more, none of which may end a node or be unknown to it. */
async function variants(rig: Rig): Promise<Verdict> {
  const kinds: readonly (readonly unknown[])[] = [[], ["latest"], [funded.address, "latest"], [{}, "latest"]];
  const unknown = new Set<string>();
  let asked = 0;
  for (const method of openMethods) {
    const family = method.split("_")[0];
    const isOther = family === "qbft" || family === "ibft";
    for (const params of kinds) {
      const answer = await rig.node(asked % rig.nodes.length, method, params);
      asked += 1;
      if (answer === undefined) return { ok: false, seen: `${method} ${JSON.stringify(params)}: no answer` };
      if (answer.error?.code === -40100) return { ok: false, seen: `${method} asks for a token` };
      if (answer.error?.code === -32601 && !isOther) unknown.add(method);
    }
  }
  const isStandIn = String((await rig.node(0, "web3_clientVersion"))?.result).includes("stand-in");
  if (unknown.size === 0) return { ok: true, seen: `${asked} variants were answered; ${noVanished}` };
  const seen = `${asked} variants were answered, ${unknown.size} methods are not known: ${[...unknown].slice(0, 5).join(", ")} …`;
  return {
    ok: isStandIn ? "not provable" : false,
    seen: isStandIn ? `a stand-in has few methods; ${seen}` : seen,
  };
}

async function largeAnswers(rig: Rig, short: boolean): Promise<Verdict> {
  const items = short ? 50 : 100;
  const body = Array.from({ length: items }, (_, id) => ({
    ...{ jsonrpc: "2.0", id, method: "eth_getBlockByNumber" },
    params: [`0x${(id % 5).toString(16)}`, true],
  }));
  const { status, text } = await rig.ask(rig.gatewayUrl, body, { "X-API-Key": rig.key });
  const answers = z.array(z.looseObject({ result: blockSchema })).safeParse(JSON.parse(text)).data ?? [];
  const ok = status === 200 && answers.length === items;
  return { ok, seen: `${items} blocks in an array, ${text.length} characters, status ${status}` };
}

async function subscriptions(rig: Rig, short: boolean): Promise<Verdict> {
  const blocks = short ? 4 : 20;
  const socket = new WebSocket(rig.gatewayUrl.replace("http", "ws"), ["tollgate.v1", `api-key.${rig.key}`]);
  const heads: number[] = [];
  socket.addEventListener("open", () =>
    socket.send(JSON.stringify(rig.rpcBody("eth_subscribe", ["newHeads"]))),
  );
  socket.addEventListener("message", ({ data }) => {
    const schema = z.object({ params: z.object({ result: z.object({ number: z.string() }) }) });
    const number = schema.safeParse(JSON.parse(String(data))).data?.params.result.number;
    if (number !== undefined) heads.push(Number(number));
  });
  await rig.until("a first head", async () => heads.length > 0, 60_000);
  await rig.kill(0);
  await rig.until("heads over the kill", async () => heads.length >= blocks);
  socket.close();
  await rig.command("start", "1");
  await rig.statusIs(0);
  const gaps = heads.filter((height, index) => index > 0 && height !== (heads[index - 1] ?? 0) + 1);
  return { ok: gaps.length === 0, seen: `${heads.length} heads, ${gaps.length} out of order or missing` };
}

/** Through the gateway it is refused; of a validator itself it is known to end one of 26.8.0, which docker starts again. */
async function poison(rig: Rig): Promise<Verdict> {
  const call = { from: funded.address, data: loop, gas: poisonGas };
  const params = [[[call, ["trace"]]], "latest"];
  const refused = await rig.gateway("trace_callMany", params).catch(() => undefined);
  const alive = await Promise.all(rig.nodes.map((_node, index) => rig.node(index, "eth_blockNumber")));
  const standing = alive.filter((answer) => answer?.result !== undefined).length;
  const ok = standing === rig.nodes.length;
  const words = refused?.error === undefined ? "it was answered" : `"${refused.error.message}"`;
  const isStandIn = String((await rig.node(0, "web3_clientVersion"))?.result).includes("stand-in");
  return {
    ok: ok && isStandIn ? "not provable" : ok,
    seen: `through the gateway ${words}; ${standing} of ${rig.nodes.length} validators stand${isStandIn ? " (a stand-in runs no traces)" : ""}`,
  };
}
