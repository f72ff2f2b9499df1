import { once } from "node:events";
import { Agent } from "node:https";
import t, { type Test } from "tap";
import WebSocket from "ws";
import { coreKey } from "../../helpers/gateway.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { ask, type Behind, behindEach } from "./rig.ts";

/* Gateways behind the balancers of docker/load-balancers/ are replaced, and killed, while clients call. */

const keptClients = 6;
const newClients = 2;
const inFlightMax = keptClients + newClients;
/** A client that has nothing to say for a moment: its connection is idle when a gateway goes. */
const pauseMsMax = 40;

behindEach(t, async (t, behind) => {
  const { gateways } = behind;

  await t.test("each gateway is replaced by SIGTERM and a new start: no call fails", async (t) => {
    const socket = await openSocket(t, behind);
    const clients = startClients(t, behind);
    await clients.calls(100);
    for (const gateway of gateways) {
      gateway.process().kill("SIGTERM");
      const { code } = await gateway.process().ended;
      t.equal(code, 0);
      await clients.calls(50);
      await gateway.start();
      await waitFor(
        "it gets calls again",
        async () => (await gateway.isReady()) && (await gateway.answered()) > 0,
      );
    }
    t.equal((await socket.ended).code, 1001, "WebSockets are told that their gateway stops");
    const again = await openSocket(t, behind);
    t.match(await again.call("eth_blockNumber"), { result: /^0x/ }, "and open again at once at another one");
    const { answered, failures } = await clients.stop();
    t.same(failures, [], `of ${answered + failures.length} calls`);
  });

  await t.test("a gateway that is killed takes no more than what it was answering", async (t) => {
    const clients = startClients(t, behind);
    await clients.calls(100);
    const [first] = gateways;
    first.process().kill("SIGKILL");
    await first.process().ended;
    await clients.calls(200);
    await first.start();
    await clients.calls(50);
    const { answered, failures } = await clients.stop();
    t.ok(
      failures.length <= inFlightMax,
      `${failures.length} of ${answered + failures.length} calls: ${failures.join(", ")}`,
    );
  });
});

/** Clients that call one after the other until `stop`: some over connections that they keep, some over a new one each time. */
function startClients(t: Test, { port, ca }: Behind) {
  let answered = 0;
  let isOver = false;
  const failures: string[] = [];
  const agents = Array.from({ length: keptClients }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  t.teardown(() => {
    isOver = true;
    for (const agent of agents) agent.destroy();
  });
  const run = async (agent: Agent | undefined) => {
    for (let id = 1; !isOver; id += 1) {
      const body = {
        jsonrpc: "2.0",
        id,
        method: "eth_getBalance",
        params: [`0x${"11".repeat(20)}`, "latest"],
      };
      try {
        const { status, text } = await ask({ port, ca, body, ...(agent === undefined ? {} : { agent }) });
        if (status === 200 && text.includes('"result"')) answered += 1;
        else failures.push(`${status} ${text.slice(0, 100)}`);
      } catch (error) {
        failures.push(String(error));
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * pauseMsMax));
    }
  };
  const running = [...agents, ...Array.from({ length: newClients }, () => undefined)].map(run);
  return {
    /** Resolves when so many more calls have been answered. */
    async calls(more: number): Promise<void> {
      const until = answered + more;
      await waitFor(`${more} calls`, () => answered >= until);
    },
    async stop() {
      isOver = true;
      await Promise.all(running);
      return { answered, failures };
    },
  };
}

async function openSocket(t: Test, { port, ca }: Behind) {
  const socket = new WebSocket(`wss://127.0.0.1:${port}/`, ["tollgate.v1", `api-key.${coreKey}`], { ca });
  t.teardown(() => socket.terminate());
  const ended = new Promise<{ code: number }>((resolve) => socket.once("close", (code) => resolve({ code })));
  await once(socket, "open");
  return {
    ended,
    async call(method: string): Promise<unknown> {
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] }));
      const [data] = await once(socket, "message");
      return JSON.parse(String(data));
    },
  };
}
