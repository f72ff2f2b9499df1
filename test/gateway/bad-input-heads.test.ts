import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import {
  assertOnlyGoodCallArrives,
  assertRawRefused,
  chainIdCall,
  post,
  startRig,
} from "../helpers/bad-input.ts";
import { type RawOutcome, rawRequest } from "../helpers/raw-http.ts";

const bytes = chainIdCall.length;
const chunked = { "Content-Length": undefined, "Transfer-Encoding": "chunked" };
const inChunks = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

t.test("media types", async (t) => {
  const rig = await startRig(t);
  const { gateway, stub } = rig;
  const notJson = { status: 415, rpcCode: -32600, code: "unsupported_media_type", says: /application\/json/ };

  t.test("a content type other than application/json: 415 that names it", async (t) => {
    const types = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/json-rpc",
      "application/jsonx",
    ];
    for (const type of [
      ...types,
      "application",
      "*/*",
      "text/plain;application/json",
      '"application/json"',
    ]) {
      const sent = post(chainIdCall, { headers: { "Content-Type": type } });
      assertRawRefused(t, await rawRequest(gateway.port, sent), rig, notJson);
    }
  });

  t.test("no content type, or an empty one: 415", async (t) => {
    for (const type of [undefined, ""]) {
      const sent = post(chainIdCall, { headers: { "Content-Type": type } });
      assertRawRefused(t, await rawRequest(gateway.port, sent), rig, notJson);
    }
  });

  t.test("two content types: refused", async (t) => {
    const sent = post(chainIdCall, { more: ["Content-Type: text/plain"] });
    const says = /Content-Type.*more than once/;
    const twice = { status: 400, rpcCode: -32600, code: "invalid_request", says };
    assertRawRefused(t, await rawRequest(gateway.port, sent), rig, twice);
  });

  t.test("a compressed body: 415 that says to send it as it is", async (t) => {
    const zipped = gzipSync(chainIdCall).toString("latin1");
    for (const coding of ["gzip", "GZIP", "br", "deflate", "gzip, identity", "identity, gzip", "x-unknown"]) {
      const outcome = await rawRequest(
        gateway.port,
        post(zipped, { headers: { "Content-Encoding": coding } }),
      );
      assertRawRefused(t, outcome, rig, { ...notJson, says: /compressed/ });
      t.equal(outcome.responses[0]?.headers["accept-encoding"], "identity");
    }
    const outcome = await rawRequest(
      gateway.port,
      post(zipped, { more: ["Content-Encoding: gzip", "Content-Encoding: identity"] }),
    );
    assertRawRefused(t, outcome, rig, { ...notJson, says: /compressed/ });
  });

  t.test("application/json passes, with any parameters and in any case", async (t) => {
    const types = [
      "application/json",
      "application/json; charset=utf-8",
      "Application/JSON ;x=y",
      "application/json;",
    ];
    for (const type of types) {
      const outcome = await rawRequest(
        gateway.port,
        post(chainIdCall, { headers: { "Content-Type": type } }),
      );
      t.equal(outcome.responses[0]?.body, '{"jsonrpc":"2.0","id":7,"result":"eth_chainId"}', type);
    }
    t.equal(stub.bodies.length, types.length);
  });

  t.test("Content-Encoding: identity passes", async (t) => {
    const sent = post(chainIdCall, { headers: { "Content-Encoding": "Identity" } });
    t.equal((await rawRequest(gateway.port, sent)).status, 200);
  });
});

const withHeaders = (headers: Record<string, string | undefined>, more: string[] = []) =>
  post(chainIdCall, { headers, more });
const withCoding = (coding: string, more: string[] = []) =>
  post(inChunks(chainIdCall), { headers: { ...chunked, "Transfer-Encoding": coding }, more });

const ambiguous: Record<string, [sent: string, says: RegExp]> = {
  "two Hosts": [withHeaders({}, ["Host: elsewhere"]), /Host/],
  "two equal Hosts": [withHeaders({}, ["Host: 127.0.0.1"]), /Host/],
  "two Content-Lengths": [withHeaders({}, [`Content-Length: ${bytes + 1}`]), /Content-Length/],
  "two equal Content-Lengths": [withHeaders({}, [`Content-Length: ${bytes}`]), /Content-Length/],
  "a second, empty Content-Length": [withHeaders({}, ["Content-Length:"]), /Content-Length/],
  "an empty Content-Length": [withHeaders({ "Content-Length": "" }), /Content-Length/],
  "Transfer-Encoding gzip": [withCoding("gzip"), /Transfer-Encoding/],
  "Transfer-Encoding gzip, chunked": [withCoding("gzip, chunked"), /Transfer-Encoding/],
  "Transfer-Encoding chunked, chunked": [withCoding("chunked, chunked"), /Transfer-Encoding/],
  "Transfer-Encoding twice": [withCoding("chunked", ["Transfer-Encoding: chunked"]), /Transfer-Encoding/],
  "Transfer-Encoding identity": [withCoding("identity"), /Transfer-Encoding/],
  "an empty Transfer-Encoding": [withCoding(""), /Transfer-Encoding/],
};

/** What uWebSockets.js answers by itself, in its own words, before the gateway sees it. */
const refusedByLibrary: Record<string, [sent: string, status: number]> = {
  "no Host": [withHeaders({ Host: undefined }), 400],
  "Content-Length and Transfer-Encoding": [
    post(inChunks(chainIdCall), { headers: { "Transfer-Encoding": "chunked" } }),
    400,
  ],
  "a list in Content-Length": [withHeaders({ "Content-Length": `${bytes}, ${bytes}` }), 400],
  "a signed Content-Length": [withHeaders({ "Content-Length": `+${bytes}` }), 400],
  "a negative Content-Length": [withHeaders({ "Content-Length": `-${bytes}` }), 400],
  "a hexadecimal Content-Length": [withHeaders({ "Content-Length": `0x${bytes.toString(16)}` }), 400],
  "a Content-Length of 20 digits": [withHeaders({ "Content-Length": "9".repeat(20) }), 400],
  "a chunk whose length is no number": [post("xyz\r\n{}\r\n0\r\n\r\n", { headers: chunked }), 400],
  "HTTP/1.0": [post(chainIdCall).replace("HTTP/1.1", "HTTP/1.0"), 505],
  "a head of 20 kB": [withHeaders({ "X-Long": "x".repeat(20_000) }), 431],
  "200 header lines": [withHeaders({}, Array<string>(200).fill("X-Many: x")), 431],
  "no HTTP": ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 505],
};

t.test("a head that two readers could read differently is refused, the connection closed", async (t) => {
  const rig = await startRig(t);
  for (const [what, [sent, says]] of Object.entries(ambiguous)) {
    t.test(what, async (t) => {
      const outcome = await rawRequest(rig.gateway.port, sent, { responses: 2 });
      const expected = { status: 400, rpcCode: -32600, code: "invalid_request", says };
      assertRawRefused(t, outcome, rig, expected);
      assertClosed(t, outcome);
    });
  }
  for (const [what, [sent, status]] of Object.entries(refusedByLibrary)) {
    t.test(what, async (t) => {
      const outcome = await rawRequest(rig.gateway.port, sent, { responses: 2 });
      t.equal(outcome.status, status);
      assertClosed(t, outcome);
      t.same(rig.stub.bodies, []);
    });
  }

  t.test("a chunked body passes, in any case and any number of chunks", async (t) => {
    const first = inChunks(chainIdCall.slice(0, 20)).replace("0\r\n\r\n", "");
    for (const body of [inChunks(chainIdCall), first + inChunks(chainIdCall.slice(20))]) {
      const headers = { ...chunked, "Transfer-Encoding": "Chunked" };
      const { responses } = await rawRequest(rig.gateway.port, post(body, { headers }));
      t.equal(responses[0]?.body, '{"jsonrpc":"2.0","id":7,"result":"eth_chainId"}');
    }
    rig.stub.bodies.length = 0;
  });

  t.test("no answer of ours names the library or its version", async (t) => {
    for (const sent of [
      post(chainIdCall),
      post(""),
      post("", { target: "/v1" }),
      withHeaders({}, ["Host: b"]),
    ]) {
      const [response] = (await rawRequest(rig.gateway.port, sent)).responses;
      t.ok(response !== undefined);
      const names = Object.keys(response?.headers ?? {});
      t.same(
        names.filter((name) => /uwebsockets|server|powered/.test(name)),
        [],
      );
      t.notMatch(response?.body, /uwebsockets/i);
    }
    rig.stub.bodies.length = 0;
  });

  t.test("and the next good call passes", (t) => assertOnlyGoodCallArrives(t, rig));
});

function assertClosed(t: Test, { closedAfterMs }: RawOutcome): void {
  t.ok(closedAfterMs !== undefined && closedAfterMs < 2000, "the connection is closed at once");
}
