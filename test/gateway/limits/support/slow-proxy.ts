import { startTcpProxy } from "../../../fakes/tcp-proxy.ts";

export type SlowProxy = {
  readonly url: string;
  /** What the server answers is held back this long. */
  setDelayMs(delayMs: number): void;
  stop(): Promise<void>;
};

/** A TCP proxy in front of a Redis that delays its answers. */
export async function startSlowProxy(port: number): Promise<SlowProxy> {
  let delayMs = 0;
  const proxy = await startTcpProxy({
    port: () => port,
    answer(client, data) {
      setTimeout(() => client.destroyed || client.write(data), delayMs);
    },
  });
  return {
    url: `redis://127.0.0.1:${proxy.port}`,
    setDelayMs(next) {
      delayMs = next;
    },
    stop: proxy.stop,
  };
}
