import t from "tap";
import {
  assertOnlyGoodCallArrives,
  assertRawRefused,
  chainIdCall,
  post,
  startRig,
} from "../helpers/bad-input.ts";
import { coreKey } from "../helpers/gateway.ts";
import { rawRequest } from "../helpers/raw-http.ts";

const head = (line: string) => `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${coreKey}\r\n`;

t.test("other methods and other paths", async (t) => {
  const rig = await startRig(t);
  const { gateway, stub } = rig;

  for (const method of ["GET", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "post"]) {
    t.test(`${method} /: 405 with Allow`, async (t) => {
      const sent = post(chainIdCall).replace("POST", method);
      const [response] = (await rawRequest(gateway.port, sent)).responses;
      t.equal(response?.status, 405);
      t.equal(response?.headers["allow"], "POST");
      t.equal(response?.headers["content-type"], "application/problem+json");
      const problem = { status: 405, code: "method_not_allowed", detail: /POST/ };
      t.match(JSON.parse(response?.body ?? ""), problem);
      t.same(stub.bodies, []);
    });
  }

  t.test(
    "HEAD: the same without a body (RFC 9110 section 9.3.2), so that the next answer is read right",
    async (t) => {
      const sent = [
        `${head("HEAD /")}\r\n`,
        { pauseMs: 300 },
        `${head("GET /nothing")}Connection: close\r\n\r\n`,
      ];
      const { text } = await rawRequest(gateway.port, sent, { responses: 3 });
      const [first = "", ...rest] = text.split("\r\n\r\n");
      t.match(first, /^HTTP\/1\.1 405 [\s\S]*Allow: POST/);
      t.match(rest.join("\r\n\r\n"), /^HTTP\/1\.1 404 /, "a status line follows the head, not a body");
    },
  );

  const paths = [
    "/rpc",
    "/v1",
    "//",
    "/.",
    "/%2f",
    "/__proto__",
    "/health",
    "/metrics",
    "/livez",
    `/${"x".repeat(2000)}`,
  ];
  t.test("any other path: 404 as a problem document that says where JSON-RPC is", async (t) => {
    for (const path of paths) {
      for (const method of ["POST", "GET"]) {
        const sent = post(chainIdCall, { target: path }).replace("POST", method);
        const [response] = (await rawRequest(gateway.port, sent)).responses;
        t.equal(response?.status, 404, `${method} ${path.slice(0, 20)}`);
        t.equal(response?.headers["content-type"], "application/problem+json");
        const problem = {
          type: "about:blank",
          status: 404,
          code: "not_found",
          detail: /JSON-RPC is at \//,
        };
        t.match(JSON.parse(response?.body ?? ""), problem);
      }
    }
    t.same(stub.bodies, []);
  });

  t.test("and the next good call passes", (t) => assertOnlyGoodCallArrives(t, rig));
});

t.test("the size of a body", async (t) => {
  const rig = await startRig(t);
  const { gateway, stub } = rig;
  const limit = 1024 * 1024;
  const callOf = (bytes: number) => {
    const [start, end] = ['{"jsonrpc":"2.0","id":7,"method":"web3_sha3","params":["', '"]}'];
    return start + "a".repeat(bytes - start.length - end.length) + end;
  };
  const chunked = { "Content-Length": undefined, "Transfer-Encoding": "chunked" };
  const inChunks = (body: string, chunkBytes: number) => {
    let text = "";
    for (let at = 0; at < body.length; at += chunkBytes) {
      const chunk = body.slice(at, at + chunkBytes);
      text += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
    }
    return `${text}0\r\n\r\n`;
  };
  const tooLarge = { status: 413, rpcCode: -32600, code: "body_too_large", says: /1048576 bytes/ };

  t.test("1 MiB passes, declared or in chunks, and arrives whole", async (t) => {
    const body = callOf(limit);
    for (const sent of [post(body), post(inChunks(body, 50_000), { headers: chunked })]) {
      t.equal((await rawRequest(gateway.port, sent)).status, 200);
      t.equal(stub.bodies.length, 1);
      t.ok(
        stub.bodies[0]?.endsWith(body.slice(body.indexOf('"params"'))),
        "its parameters arrived as they were sent",
      );
      stub.bodies.length = 0;
    }
  });

  t.test("a byte more: 413, declared or in chunks", async (t) => {
    const body = callOf(limit + 1);
    for (const sent of [post(body), post(inChunks(body, 50_000), { headers: chunked })]) {
      assertRawRefused(t, await rawRequest(gateway.port, sent), rig, tooLarge);
    }
  });

  t.test("a larger one is refused by its declared length, before any of it comes", async (t) => {
    const sent = post("", { headers: { "Content-Length": String(8 * limit) } });
    assertRawRefused(t, await rawRequest(gateway.port, sent), rig, tooLarge);
  });

  t.test("chunks without end are refused as soon as they are too much", async (t) => {
    const endless = post(inChunks(callOf(limit + 1), 50_000).replace(/0\r\n\r\n$/, ""), { headers: chunked });
    assertRawRefused(t, await rawRequest(gateway.port, endless), rig, tooLarge);
  });

  t.test("a client that sends 8 MiB before it reads gets its answer, not a broken connection", async (t) => {
    const body = callOf(8 * limit);
    for (const sent of [post(body), post(inChunks(body, 500_000), { headers: chunked })]) {
      assertRawRefused(t, await rawRequest(gateway.port, sent, { readsLast: true }), rig, tooLarge);
    }
  });

  t.test("and the next good call passes", (t) => assertOnlyGoodCallArrives(t, rig));
});
