import { cp, rm } from "node:fs/promises";
import type { Verdict } from "../check.ts";
import type { Rig } from "../rig.ts";

/** A validator's data as it was saved while it stood still is put back into the place of what was lost. */
export async function savedData(rig: Rig): Promise<Verdict> {
  const data = rig.dataFolder(3);
  const name = rig.nodes[3]?.name;
  if (data === undefined || name === undefined)
    return {
      ok: "skipped",
      seen: "volumes of containers are saved by `npm run backup`, which has tests of its own",
    };
  const copy = `${data}-saved`;
  await rig.command("stop", name);
  const height = await rig.height();
  await cp(data, copy, { recursive: true });
  await rm(data, { recursive: true });
  await cp(copy, data, { recursive: true });
  await rm(copy, { recursive: true });
  const { code, text } = await rig.command("start", name);
  if (code !== 0) return { ok: false, seen: text };
  const seconds = await rig.statusIs(0);
  const begun = await rig.node(3, "eth_blockNumber");
  const ok = Number(begun?.result) >= height;
  return { ok, seen: `it had block ${height} when it stopped; all is well ${seconds} s after its start` };
}

/** One validator after the other is started with another release, while calls go on. */
export async function upgrade(rig: Rig): Promise<Verdict> {
  const { upgraded } = rig;
  if (upgraded === undefined)
    return { ok: "skipped", seen: "--upgrade-to DIR names the release that the validators are moved to" };
  const before = String((await rig.node(0, "web3_clientVersion"))?.result);
  for (const [index, { name }] of rig.nodes.entries()) {
    await rig.command("stop", name);
    const { code, text } = await upgraded("start", name);
    if (code !== 0) return { ok: false, seen: `${name}: ${text}` };
    await rig.statusIs(0);
    if ((await rig.node(index, "web3_clientVersion"))?.result === undefined)
      return { ok: false, seen: `${name} does not answer` };
  }
  const after = String((await rig.node(0, "web3_clientVersion"))?.result);
  return { ok: true, seen: `from ${before} to ${after}, one after the other, each in order before the next` };
}
