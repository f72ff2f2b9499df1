import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export type LiveEvent = { name: string; id: string; data: string };

export type EventClient = {
  events: LiveEvent[];
  /** Comments and fields beside events, such as `retry: 2000`. */
  lines: string[];
  connections: number;
  /** Of each answer. */
  statuses: number[];
  stop(): void;
};

/**
 * Listens as a browser's EventSource does (WHATWG HTML 9.2): comes back when the connection ends, with `Last-Event-ID`,
 * to the URL that `urlOf` names for its n-th connection.
 */
export function startEventClient(
  urlOf: (connection: number) => string,
  {
    reconnectMs = 20,
    lastEventId = "",
    headers: own = {},
  }: { reconnectMs?: number; lastEventId?: string; headers?: Readonly<Record<string, string>> } = {},
): EventClient {
  const agent = new Agent({ keepAlive: false });
  const client: EventClient = { events: [], lines: [], connections: 0, statuses: [], stop };
  let last = lastEventId;
  const stopped = new AbortController();
  let current: ClientRequest | undefined;

  function stop(): void {
    stopped.abort();
    current?.destroy();
  }

  function take(block: string): void {
    const fields = block
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]);
    const field = (name: string) => fields.find(([found]) => found === name)?.[1];
    const [name, id, data] = [field("event"), field("id"), field("data")];
    if (id !== undefined) last = id;
    if (name === undefined || data === undefined) client.lines.push(block);
    else client.events.push({ name, id: last, data });
  }

  async function listen(): Promise<void> {
    const headers = { ...own, ...(last === "" ? {} : { "Last-Event-ID": last }) };
    current = request(urlOf(client.connections), { agent, headers });
    client.connections += 1;
    current.end();
    const [response]: IncomingMessage[] = await once(current, "response");
    client.statuses.push(response?.statusCode ?? 0);
    if (response?.statusCode !== 200) {
      response?.resume();
      return;
    }
    let text = "";
    response.setEncoding("utf8");
    for await (const chunk of response) {
      text += String(chunk);
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) take(block);
    }
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await listen().catch(() => {});
      // A browser waits as well before it connects again.
      await sleep(reconnectMs, undefined, { signal: stopped.signal }).catch(() => {});
    }
  }
  void run();
  return client;
}
