import { freePort } from "../../processes/free-port.ts";
import type { Child } from "../../processes/run-child.ts";
import { benchKeys, limitedKey } from "./bench-keys.ts";
import type { Command, Contestant, Setup } from "./contestant.ts";
import { post } from "./post.ts";
import { processesOf } from "./process-usage.ts";
import { type Rig, whenAnswering } from "./rig.ts";

export type RunningContestant = {
  contestant: Contestant;
  url: string;
  child: Child;
  /** It and what it has started. */
  pids(): number[];
};

const chainId = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';

/**
 * Starts a contestant on the proxy's core and waits until it answers.
 * @throws Error with its output, where it does not answer.
 */
export async function startContestant({
  contestant,
  rig,
  prepare = contestant.prepare,
}: {
  contestant: Contestant;
  rig: Rig;
  prepare?: (setup: Setup) => Command;
}): Promise<RunningContestant> {
  const port = await freePort();
  const command = prepare({
    folder: await rig.folderFor(contestant.name),
    port,
    validatorPorts: rig.validators.ports,
    keys: [...benchKeys, limitedKey],
    redisUrl: rig.redis.url,
    programs: rig.programs,
  });
  const child = await rig.start(contestant.name, command, { onProxyCore: true });
  const url = `http://127.0.0.1:${port}/`;
  const key = benchKeys[0]?.value ?? "";
  await whenAnswering(child, async () => (await post(url, { key, body: chainId })).status === 200);
  return { contestant, url, child, pids: () => processesOf(child.pid) };
}
