import t from "tap";
import { echoMethod } from "../fakes/stub-validator.ts";
import { assertOnlyGoodCallArrives, chainIdCall, post, startRig } from "../helpers/bad-input.ts";
import { type RawPiece, rawPost, rawRequest } from "../helpers/raw-http.ts";

const send = '{"jsonrpc":"2.0","id":7,"method":"eth_sendRawTransaction","params":["0x02"]}';
const inChunks = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`;
const chunked = { "Content-Length": undefined, "Transfer-Encoding": "chunked" };
const chainIdAnswer = '{"jsonrpc":"2.0","id":7,"result":"eth_chainId"}';

t.test("a body that was cut short is not carried out", async (t) => {
  const rig = await startRig(t);
  const longer = post(send, { headers: { "Content-Length": String(send.length + 1) } });
  const cut: Record<string, string> = {
    "less than Content-Length, though whole as JSON": longer,
    "half of the text": post(send).slice(0, -20),
    "the head alone": post(send).slice(0, -send.length),
    "half of the head": post(send).slice(0, 60),
    "chunks without the last one": post(inChunks(send), { headers: chunked }),
    "half of a chunk": post(inChunks(send).slice(0, -20), { headers: chunked }),
  };
  for (const [what, sent] of Object.entries(cut)) {
    t.test(`${what}, then the client has finished: nothing arrives, the connection is closed`, async (t) => {
      const outcome = await rawRequest(rig.gateway.port, sent, { afterwards: "finish" });
      t.ok(outcome.closedAfterMs !== undefined, "closed");
      t.not(outcome.status, 200);
      await assertOnlyGoodCallArrives(t, rig);
    });

    t.test(`${what}, then the client is gone: nothing arrives`, async (t) => {
      await rawRequest(rig.gateway.port, [sent, { pauseMs: 20 }], { afterwards: "reset" });
      await assertOnlyGoodCallArrives(t, rig);
    });
  }

  t.test("the same in pieces, to its end, is carried out once", async (t) => {
    const whole = post(`${inChunks(send)}0\r\n\r\n`, { headers: chunked });
    const pieces: RawPiece[] = [];
    for (let at = 0; at < whole.length; at += 40) pieces.push(whole.slice(at, at + 40), { pauseMs: 5 });
    const { responses } = await rawRequest(rig.gateway.port, pieces);
    t.match(responses, [{ status: 200, body: '{"jsonrpc":"2.0","id":7,"result":"eth_sendRawTransaction"}' }]);
    t.equal(rig.stub.bodies.length, 1);
    rig.stub.bodies.length = 0;
  });

  t.test("no request is counted as being carried out any more", async (t) => {
    const metrics = await (await fetch(`${rig.gateway.opsUrl}/metrics`)).text();
    t.match(metrics, /^tollgate_gateway_requests_in_flight 0$/m);
  });
});

t.test("one connection, several requests", async (t) => {
  const rig = await startRig(t);
  const { gateway, stub } = rig;
  t.beforeEach(() => {
    stub.bodies.length = 0;
  });

  t.test("a refused request leaves the connection as it was, its body read to the end", async (t) => {
    const refused: Record<string, [sent: string, status: number]> = {
      "no key": [rawPost({ key: "", body: chainIdCall }), 401],
      "an unknown key": [rawPost({ key: "an-unknown-key-of-somebody", body: chainIdCall }), 401],
      "no JSON": [post("x".repeat(50_000)), 400],
      "an empty batch": [post("[]"), 400],
      "no body": [post(""), 400],
      "a method that is unknown": [post('{"jsonrpc":"2.0","id":7,"method":"x"}'), 200],
      "a content type that is none": [post(chainIdCall, { headers: { "Content-Type": "text/plain" } }), 415],
      "another path": [post("x".repeat(50_000), { target: "/v1" }), 404],
      "another method": [post("x".repeat(50_000)).replace("POST", "PUT"), 405],
    };
    for (const [what, [sent, status]] of Object.entries(refused)) {
      const pieces = [sent, { pauseMs: 60 }, post(chainIdCall)];
      const { responses } = await rawRequest(gateway.port, pieces, { responses: 2 });
      t.match(responses, [{ status }, { status: 200, body: chainIdAnswer }], what);
    }
    t.equal(stub.bodies.length, Object.keys(refused).length);
  });

  t.test("what looks like a request inside a refused body is none", async (t) => {
    const pieces = [post(post(send), { target: "/v1" }), { pauseMs: 60 }, post(chainIdCall)];
    const { responses } = await rawRequest(gateway.port, pieces, { responses: 3, waitMs: 300 });
    t.match(responses, [{ status: 404 }, { status: 200, body: chainIdAnswer }]);
    t.equal(responses.length, 2);
    t.notMatch(stub.bodies.join(), "eth_sendRawTransaction");
  });

  t.test("requests one after the other are answered in their order", async (t) => {
    const pieces = [1, 2, 3].flatMap((id) => [
      post(`{"jsonrpc":"2.0","id":${id},"method":"net_version"}`),
      { pauseMs: 60 },
    ]);
    const { responses } = await rawRequest(gateway.port, pieces, { responses: 3 });
    t.same(
      responses.map(({ body }) => body),
      [1, 2, 3].map((id) => `{"jsonrpc":"2.0","id":${id},"result":"net_version"}`),
    );
  });

  // uWebSockets.js carries out one request of a connection at a time and closes one that does not wait. RFC 9112 section
  // 9.3.2 lets it: whoever pipelines asks again for what was not answered.
  t.test(
    "a request that does not wait for the answer before it closes the connection, and is not carried out",
    async (t) => {
      stub.answerWith(async (body, response, request) => {
        // The second request comes 100 ms after the first, before its answer.
        await new Promise((resolve) => setTimeout(resolve, 200));
        return echoMethod(body, response, request);
      });
      const second = post('{"jsonrpc":"2.0","id":8,"method":"eth_gasPrice"}');
      for (const pieces of [[post(chainIdCall) + second], [post(chainIdCall), { pauseMs: 100 }, second]]) {
        const { text, closedAfterMs } = await rawRequest(gateway.port, pieces, { responses: 2 });
        t.ok(closedAfterMs !== undefined && closedAfterMs < 2000, "closed at once");
        t.equal(text, "", "no answer that could be taken for another's");
      }
      stub.answerWith(echoMethod);
      stub.bodies.push(...stub.bodies.splice(0).filter((body) => !body.includes("eth_chainId")));
      await assertOnlyGoodCallArrives(t, rig);
    },
  );
});
