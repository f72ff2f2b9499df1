import { z } from "zod";
import { openMethods } from "../../../genesis/open-methods.ts";
import { funded } from "../accounts.ts";
import type { Verdict } from "../check.ts";
import { postJson } from "../json-rpc.ts";
import type { Rig } from "../rig.ts";
import { isStandIn } from "../transactions.ts";

const blockSchema = z.object({ hash: z.string() });
/** 0x5b600056: a loop without end, by which a trace fills the heap as long as gas lasts. */
const loop = "0x5b600056";
const poisonGas = "0x2faf080";

export async function votes(rig: Rig): Promise<Verdict> {
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
export async function variants(rig: Rig): Promise<Verdict> {
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
  const isUnreal = await isStandIn(rig);
  if (unknown.size === 0) return { ok: true, seen: `${asked} variants were answered, each method is known` };
  const seen = `${asked} variants were answered, ${unknown.size} methods are not known: ${[...unknown].slice(0, 5).join(", ")} …`;
  return {
    ok: isUnreal ? "not provable" : false,
    seen: isUnreal ? `a stand-in has few methods; ${seen}` : seen,
  };
}

export async function largeAnswers(rig: Rig, short: boolean): Promise<Verdict> {
  const items = short ? 50 : 100;
  const body = Array.from({ length: items }, (_, id) => ({
    ...{ jsonrpc: "2.0", id, method: "eth_getBlockByNumber" },
    params: [`0x${(id % 5).toString(16)}`, true],
  }));
  const { status, text } = await postJson(rig.gatewayUrl, body, { "X-API-Key": rig.key });
  const answers = z.array(z.looseObject({ result: blockSchema })).safeParse(JSON.parse(text)).data ?? [];
  const ok = status === 200 && answers.length === items;
  return { ok, seen: `${items} blocks in an array, ${text.length} characters, status ${status}` };
}

/** Through the gateway it is refused; of a validator itself it is known to end one of 26.8.0, which docker starts again. */
export async function poison(rig: Rig): Promise<Verdict> {
  const call = { from: funded.address, data: loop, gas: poisonGas };
  const params = [[[call, ["trace"]]], "latest"];
  const refused = await rig.gateway("trace_callMany", params).catch(() => undefined);
  const alive = await Promise.all(rig.nodes.map((_node, index) => rig.node(index, "eth_blockNumber")));
  const standing = alive.filter((answer) => answer?.result !== undefined).length;
  const ok = refused?.error !== undefined && standing === rig.nodes.length;
  const words = refused?.error === undefined ? "it was not refused" : `"${refused.error.message}"`;
  const isUnreal = await isStandIn(rig);
  return {
    ok: ok && isUnreal ? "not provable" : ok,
    seen: `through the gateway ${words}; ${standing} of ${rig.nodes.length} validators stand${isUnreal ? " (a stand-in runs no traces)" : ""}`,
  };
}
