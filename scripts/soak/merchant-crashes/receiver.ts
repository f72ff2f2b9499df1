import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { z } from "zod";
import type { Teardown } from "../../processes/teardown.ts";
import { seededRandom } from "../seeded-random.ts";

/** One request as it came. */
export type Note = { headers: IncomingHttpHeaders; body: string };

/** What goes wrong at a receiver. Those that come first have not taken the event, though they may have read it. */
const manners = [
  ...(["fails", "asks for time", "hangs", "cuts the connection", "redirects", "answers garbage"] as const),
  ...(["loses its answer", "breaks its answer off", "never ends its answer"] as const),
] as const;
type Manner = (typeof manners)[number];

/** How often in a row an event goes wrong at most. */
const wrongMax = 3;
const answerWith: Record<Manner, (response: ServerResponse) => unknown> = {
  fails: (response) => response.writeHead(500).end("out of order"),
  "asks for time": (response) => response.writeHead(503, { "Retry-After": "0" }).end(),
  hangs: () => {},
  "cuts the connection": (response) => response.socket?.destroy(),
  redirects: (response) => response.writeHead(307, { Location: "/elsewhere" }).end(),
  "answers garbage": (response) => cutAfter(response.socket, "200 taken, thank you\r\n\r\n"),
  "loses its answer": (response) => response.socket?.destroy(),
  "breaks its answer off": (response) =>
    cutAfter(response.socket, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ntaken"),
  "never ends its answer": (response) => response.writeHead(200).write("taken"),
};
const hasTaken = new Set<Manner>(["loses its answer", "breaks its answer off", "never ends its answer"]);

const numbered = z.object({ sequence: z.int() });

/**
 * A merchant's server. The seed decides how often each event goes wrong, and how: by its number and the how manyth try it is, never
 * by the clock. One that is `closed` answers 410 to all, until it opens.
 */
export async function startCrashReceiver(t: Teardown, { seed, closed }: { seed: number; closed: boolean }) {
  const notes: Note[] = [];
  const taken: Note[] = [];
  const triesOf = new Map<number, number>();
  let isClosed = closed;

  function mannerOf(sequence: number): Manner | undefined {
    const tried = triesOf.get(sequence) ?? 0;
    triesOf.set(sequence, tried + 1);
    const random = seededRandom(seed * 1000 + sequence);
    const drawn = Array.from(
      { length: Math.floor(random() * (wrongMax + 1)) },
      () => manners[Math.floor(random() * manners.length)],
    );
    return drawn[tried];
  }

  const server = createServer((request, response) => {
    void text(request).then(
      (body) => {
        const note = { headers: request.headers, body };
        notes.push(note);
        if (isClosed) {
          response.writeHead(410).end();
          return;
        }
        const manner = mannerOf(numbered.parse(JSON.parse(body)).sequence);
        if (manner === undefined || hasTaken.has(manner)) taken.push(note);
        if (manner === undefined) response.writeHead(204).end();
        else answerWith[manner](response);
      },
      // Who sent it was killed in the middle of it.
      () => {},
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}/hook`,
    /** All that came. */
    notes,
    /** What the merchant has, whatever the sender knows of it. */
    taken,
    open(): void {
      isClosed = false;
    },
  };
}

function cutAfter(socket: Socket | null, bytes: string): void {
  socket?.write(bytes, () => socket.destroy());
}
