import type { Verdict } from "../check.ts";
import type { Rig } from "../rig.ts";

const name = "validator-6";

/** Five become six and five again, with a chain that goes on. */
export async function membership(rig: Rig): Promise<Verdict> {
  const added = await rig.command("validator", "add", name);
  if (added.code !== 0) return { ok: false, seen: added.text.trim() };
  const removed = await rig.command("validator", "remove", name, "--delete-data");
  if (removed.code !== 0) return { ok: false, seen: removed.text.trim() };
  const seconds = await rig.statusIs(0);
  const first = /block (\d+) is its first/.exec(added.text)?.[1] ?? "?";
  const left = /Block (\d+) is made by 5/.exec(removed.text)?.[1] ?? "?";
  return {
    ok: true,
    seen: `its first block was ${first}, it left with ${left}; all is well ${seconds} s later`,
  };
}
