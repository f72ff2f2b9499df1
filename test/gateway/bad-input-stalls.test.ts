import t from "tap";
import { assertOnlyGoodCallArrives, post, startRig } from "../helpers/bad-input.ts";
import { type RawPiece, rawRequest } from "../helpers/raw-http.ts";

/** The promise is 30 s. The library's own clock closes after ten to fourteen, which keeps this test short. */
const closedWithinMs = 25_000;

const send = '{"jsonrpc":"2.0","id":7,"method":"eth_sendRawTransaction","params":["0x02"]}';
const drip = (text: string, pauseMs: number): RawPiece[] => [...text].flatMap((char) => [char, { pauseMs }]);

t.test("connections that stall are closed and carry nothing out", async (t) => {
  const rig = await startRig(t);
  const start = post(send).slice(0, -send.length);
  const longer = post(send, { headers: { "Content-Length": String(send.length + 1) } });
  const chunked = post("", { headers: { "Content-Length": undefined, "Transfer-Encoding": "chunked" } });
  const stalling: Record<string, RawPiece[]> = {
    "nothing is sent": [],
    "the head stops": [start.slice(0, 80)],
    "the head comes a byte at a time": drip(start, 250),
    "the body never begins": [start],
    "the body stops before its last byte": [longer],
    "the body comes a byte at a time": [start, ...drip(send, 250)],
    "chunks stop": [chunked, "10\r\n0123456789"],
    "chunks come without end, a byte each": [
      chunked,
      ...drip(" ".repeat(100), 250).map((piece) => (piece === " " ? "1\r\n \r\n" : piece)),
    ],
    "a good request, then nothing": [post('{"jsonrpc":"2.0","id":7,"method":"x"}')],
  };
  const cases = Object.entries(stalling).map(async ([what, pieces]) => {
    const outcome = await rawRequest(rig.gateway.port, pieces, { responses: 0, waitMs: closedWithinMs });
    t.ok(outcome.closedAfterMs !== undefined, `${what}: closed`);
  });
  await Promise.all(cases);
  await assertOnlyGoodCallArrives(t, rig);
});
