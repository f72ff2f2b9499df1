import { WebSocket } from "undici";
import { z } from "zod";
import type { Verdict } from "../check.ts";
import { rpcBody } from "../json-rpc.ts";
import type { Rig } from "../rig.ts";

export async function subscriptions(rig: Rig, short: boolean): Promise<Verdict> {
  const blocks = short ? 4 : 20;
  const socket = new WebSocket(rig.gatewayUrl.replace("http", "ws"), ["tollgate.v1", `api-key.${rig.key}`]);
  const heads: number[] = [];
  socket.addEventListener("open", () => socket.send(JSON.stringify(rpcBody("eth_subscribe", ["newHeads"]))));
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
