import type { Teardown } from "../../../../scripts/processes/teardown.ts";
import { startRedis } from "../../../helpers/redis.ts";

export type RedisServer = {
  readonly url: string;
  /** SIGSTOP and SIGCONT: it accepts connections (the kernel does) and answers nothing. */
  freeze(): void;
  thaw(): void;
  /** kill -9. */
  kill(): Promise<void>;
  /** Starts again on the same port, empty: nothing is stored on disk. */
  start(): Promise<void>;
};

/** A Redis of the test's own, without files. */
export async function startRedisServer(t: Teardown): Promise<RedisServer> {
  const { url, freeze, thaw, kill, restart } = await startRedis(t, { keepsNothing: true });
  return { url, freeze, thaw, kill, start: restart };
}
