import fc from "fast-check";
import t from "tap";
import { createResponseReader } from "../../../../gateway/upstream/http/response-reader.ts";
import "../../../helpers/property-seed.ts";

type Read = {
  outcome: "well" | "malformed";
  statuses: number[];
  body: string;
  ends: { mayReuse: boolean; keepAliveMs: number | undefined }[];
};

/** Reads a response that comes in these pieces; each is destroyed once it was read, as a socket's buffer is. */
function read(pieces: readonly string[], { thenClosed = false } = {}): Read {
  const result: Read = { outcome: "well", statuses: [], body: "", ends: [] };
  let lastWasLast = false;
  const reader = createResponseReader({
    onHead: (status) => result.statuses.push(status),
    onBody(bytes, isLast) {
      result.body += bytes.toString("latin1");
      lastWasLast = isLast;
    },
    onEnd: (end) => result.ends.push(end),
  });
  reader.expect();
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, "latin1");
    if (result.outcome === "well") result.outcome = reader.read(bytes);
    bytes.fill(0);
  }
  if (thenClosed) t.equal(reader.close(), lastWasLast || result.ends.length > 0 ? "whole" : "cut");
  return result;
}

const kept = { mayReuse: true, keepAliveMs: undefined };
const bodyOf = fc.string({ unit: "binary-ascii", maxLength: 300 });

/** The text cut at these places. */
function cut(text: string, places: readonly number[]): string[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((one, other) => one - other);
  return [0, ...at].map((start, index) => text.slice(start, at[index] ?? text.length));
}

t.test("a response comes out whole, wherever it is cut", async (t) => {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 8 });
  const framed = fc.oneof(
    bodyOf.map((body) => ({ body, text: `Content-Length: ${body.length}\r\n\r\n${body}` })),
    fc.tuple(bodyOf, sizes, fc.boolean()).map(([body, lengths, hasMore]) => {
      let text = "Transfer-Encoding: Chunked\r\n\r\n";
      let rest = body;
      for (const length of [...lengths, 1000]) {
        const chunk = rest.slice(0, length);
        rest = rest.slice(length);
        const extension = hasMore ? ";name=value" : "";
        if (chunk !== "") text += `${chunk.length.toString(16)}${extension}\r\n${chunk}\r\n`;
      }
      return { body, text: `${text}0\r\n${hasMore ? "Trailer: yes\r\n" : ""}\r\n` };
    }),
  );
  const before = fc.constantFrom(
    "",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n",
  );
  fc.assert(
    fc.property(framed, before, fc.array(fc.nat(), { maxLength: 20 }), ({ body, text }, early, places) => {
      const whole = `${early}HTTP/1.1 200 OK\r\nServer: s\r\n${text}`;
      for (const pieces of [cut(whole, places), [...whole], [whole]]) {
        const result = read(pieces);
        if (result.body !== body || result.ends.length !== 1) return false;
        t.same(result, { outcome: "well", statuses: [200], body, ends: [kept] });
      }
      return true;
    }),
    { numRuns: 60 },
  );
});

t.test("whether the connection may be used again", async (t) => {
  const end = (head: string) => read([`${head}\r\nContent-Length: 0\r\n\r\n`]).ends[0];
  t.same(end("HTTP/1.1 200 OK"), kept);
  t.same(end("HTTP/1.1 200"), kept, "without a reason");
  t.same(end("HTTP/1.1 200 OK\r\nConnection: Close"), { ...kept, mayReuse: false });
  t.same(end("HTTP/1.1 200 OK\r\nConnection: a , close"), { ...kept, mayReuse: false });
  t.same(end("HTTP/1.0 200 OK"), { ...kept, mayReuse: false });
  t.same(end("HTTP/1.0 200 OK\r\nConnection: keep-alive"), kept);
  t.same(end("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=100"), { ...kept, keepAliveMs: 5000 });
  t.same(end("HTTP/1.1 200 OK\r\nKeep-Alive: 5"), kept);
});

t.test("a body without a length ends with the connection", async (t) => {
  const result = read(["HTTP/1.1 200 OK\r\n\r\nab", "cd"], { thenClosed: true });
  t.same(result, { ...result, body: "abcd", ends: [{ mayReuse: false, keepAliveMs: undefined }] });
  t.same(read(["HTTP/1.1 204 No Content\r\n\r\n"]).ends, [{ ...kept, mayReuse: false }], "but 204 has none");
});

t.test("a connection that ends earlier cuts the response", async (t) => {
  for (const pieces of [
    [],
    ["HTTP/1.1 200 O"],
    ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcd"],
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n"],
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"],
  ]) {
    t.same(read(pieces, { thenClosed: true }).ends, []);
  }
});

t.test("what could be understood in two ways is malformed", async (t) => {
  const ok = "HTTP/1.1 200 OK\r\n";
  const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
  const malformed: Record<string, string> = {
    "no HTTP": "SSH-2.0-OpenSSH\r\n\r\n",
    "another version": "HTTP/2 200\r\n\r\n",
    "no status": "HTTP/1.1 2000 OK\r\n\r\n",
    "a change of protocol that nobody asked for": "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    "a length and chunks": `${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    "two lengths": `${ok}Content-Length: 1\r\nContent-Length: 1\r\n\r\n`,
    "a list of lengths": `${ok}Content-Length: 1, 1\r\n\r\n`,
    "a length that is none": `${ok}Content-Length: +1\r\n\r\n`,
    "another coding": `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n`,
    "chunked twice": `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`,
    "a blank before the colon": `${ok}Content-Length : 1\r\n\r\n`,
    "a line that goes on in the next": `${ok}A: b\r\n c\r\n\r\n`,
    "a line feed alone": `${ok}A: b\nContent-Length: 0\r\n\r\n`,
    "a carriage return alone": `${ok}A: b\rContent-Length: 0\r\n\r\n`,
    "a head without end": `${ok}A: ${"b".repeat(17_000)}`,
    "more than its length": `${ok}Content-Length: 1\r\n\r\nab`,
    "more than nothing": `${ok}Content-Length: 0\r\n\r\na`,
    "a second response": `${ok}Content-Length: 0\r\n\r\n${ok}`,
    "a chunk's size that is none": `${chunked}0x1\r\na\r\n0\r\n\r\n`,
    "a chunk's size that is negative": `${chunked}-1\r\na\r\n0\r\n\r\n`,
    "a chunk's size beyond all measure": `${chunked}fffffffff\r\n`,
    "a chunk longer than its size": `${chunked}1\r\nab\r\n0\r\n\r\n`,
    "a line feed alone behind a size": `${chunked}1\na\r\n0\r\n\r\n`,
    "an extension without end": `${chunked}1;${"a".repeat(2000)}`,
    "more than the last chunk": `${chunked}0\r\n\r\na`,
  };
  for (const [what, text] of Object.entries(malformed)) {
    t.equal(read([text]).outcome, "malformed", what);
    t.equal(read([...text]).outcome, "malformed", `${what}, byte by byte`);
  }
});

t.test("bytes that nobody asked for are malformed", async (t) => {
  const reader = createResponseReader({ onHead() {}, onBody() {}, onEnd() {} });
  t.equal(reader.read(Buffer.from("HTTP/1.1 200 OK\r\n")), "malformed");
});
