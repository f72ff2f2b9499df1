import type { Teardown } from "../../scripts/processes/teardown.ts";
import { startTcpProxy } from "./tcp-proxy.ts";

/** `cut`: no connection comes through. `mute`: questions arrive and are carried out, and their answers are lost. */
export type CutMode = "open" | "cut" | "mute";

export type CutProxy = {
  url: string;
  set(mode: CutMode): void;
  /** Leads to another node from now on; open connections are cut. */
  redirect(port: number): void;
};

/** A TCP proxy in front of a node, whose connections can be cut at any moment. */
export async function startCutProxy(t: Teardown, { port }: { port: number }): Promise<CutProxy> {
  let mode: CutMode = "open";
  let nodePort = port;
  const proxy = await startTcpProxy({
    port: () => nodePort,
    isOpen: () => mode !== "cut",
    answer(client, data) {
      if (mode === "mute") client.destroy();
      else client.write(data);
    },
  });
  t.teardown(proxy.stop);
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    set(next) {
      mode = next;
      if (mode === "cut") proxy.cut();
    },
    redirect(next) {
      nodePort = next;
      proxy.cut();
    },
  };
}
