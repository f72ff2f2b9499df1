import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import t, { type Test } from "tap";
import { createPaymentStreams } from "../../../../api/merchant/checkout/payment-streams.ts";
import { waitFor } from "../../../helpers/wait-for.ts";

const hourMs = 3_600_000;

/** Streams over a database that the test answers for, on real sockets. */
async function startStreams(t: Test, { perAddressMax = 5 } = {}) {
  const asked: unknown[][] = [];
  const standing = { rows: new Map<string, { state: string; received: string }>(), isAway: false, nowMs: 0 };
  const logged: string[] = [];
  const streams = createPaymentStreams({
    db: {
      query: async (query: unknown) => {
        asked.push(Object(query).values[0]);
        if (standing.isAway) throw new Error("away");
        const rows = [...standing.rows].map(([id, row]) => ({ id, ...row }));
        return { rows, rowCount: rows.length, command: "SELECT" };
      },
    },
    ...{ clock: () => 1_900_000_000_000, now: () => standing.nowMs },
    settings: { clientsMax: 1000, perAddressMax, heartbeatMs: 20 },
    logger: {
      warn: (...said: unknown[]) => void logged.push(`warn ${said[1]}`),
      info: (_: unknown) => void logged.push("info"),
    },
  });
  const server = createServer((request, response: ServerResponse) => {
    const id = request.url?.slice(1) ?? "";
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    streams.add({ response, address: id, invoice: { id, state: "open", received: 0n }, seen: "open.0" });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  t.teardown(async () => {
    await streams.stop();
    server.closeAllConnections();
    server.close();
  });
  const listen = (id: string) => {
    const socket = connect(port, "127.0.0.1");
    const heard = { text: "", isClosed: false };
    socket.on("error", () => {});
    socket.on("close", () => {
      heard.isClosed = true;
    });
    socket.setEncoding("utf8").on("data", (text: string) => {
      heard.text += text;
    });
    socket.write(`GET /${id} HTTP/1.1\r\nHost: a\r\n\r\n`);
    t.teardown(() => socket.destroy());
    return { socket, heard };
  };
  return { streams, standing, asked, logged, listen };
}

t.test(
  "however many listen, one statement a second asks for all of them; none where nobody listens",
  async (t) => {
    const { streams, standing, asked, listen } = await startStreams(t);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    t.same(asked, []);
    const beganMs = performance.now();
    const heard = Array.from({ length: 300 }, (_, index) => listen(`invoice-${index % 100}`).heard);
    await waitFor("all listen", async () => streams.count() === 300);
    standing.rows = new Map([["invoice-7", { state: "paid", received: "10" }]]);
    await waitFor("three are told", async () => heard.filter(({ isClosed }) => isClosed).length === 3);
    t.equal(heard.filter(({ text }) => text.includes("id: paid.10")).length, 3);
    t.ok(asked.length <= (performance.now() - beganMs) / 1000 + 1, `${asked.length} statements`);
    t.equal(new Set(asked.at(-1)).size, asked.at(-1)?.length, "each invoice once");
    t.ok((asked.at(-1)?.length ?? 0) <= 100);
  },
);

t.test("a database that is away ends no stream, and is told of once", async (t) => {
  const { standing, asked, logged, listen } = await startStreams(t);
  const { heard } = listen("one");
  standing.isAway = true;
  await waitFor("it was asked twice", async () => asked.length >= 2);
  t.notOk(heard.isClosed);
  standing.isAway = false;
  standing.rows = new Map([["one", { state: "expired", received: "0" }]]);
  await waitFor("it is told", async () => heard.text.includes('{"state":"expired"}'));
  t.notOk(heard.isClosed, "what comes late is told as well");
  t.same(logged, ["warn payment pages cannot be told of payments", "info"]);
});

t.test("a stream lasts an hour at most, also of a client that does not read", async (t) => {
  const { streams, standing, listen } = await startStreams(t);
  const [reads, stuck] = [listen("one"), listen("two")];
  await waitFor("both listen", async () => streams.count() === 2);
  stuck.socket.pause();
  standing.nowMs = hourMs;
  await waitFor("it beats on", async () => reads.heard.text.split("event: clock").length > 3);
  t.equal(streams.count(), 2);
  standing.nowMs = hourMs + 1;
  await waitFor("both are let go", async () => streams.count() === 0);
  await waitFor("it has ended", async () => reads.heard.isClosed);
});
