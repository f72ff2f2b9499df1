import t from "tap";
import { startStubValidator } from "../../../fakes/stub-validator.ts";
import { startGateway } from "../../../helpers/gateway.ts";
import { opcodes, openRawWebSocket, type RawWebSocket, writeFrame } from "../../../helpers/raw-web-socket.ts";
import { startRedis } from "../../../helpers/redis.ts";
import { openWebSocket } from "../../../helpers/web-socket-client.ts";

const call = '{"jsonrpc":"2.0","id":"ü","method":"eth_chainId"}';
const answer = '{"jsonrpc":"2.0","id":"ü","result":"eth_chainId"}';
const messageBytesMax = 4096;

t.test("frames by the byte", async (t) => {
  const [redis, validator] = await Promise.all([startRedis(t), startStubValidator(t)]);
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [validator.url],
    change: (config) => ({ ...config, webSocket: { ...config.webSocket, messageBytesMax } }),
  });
  const open = () => openRawWebSocket(t, gateway.port);
  const answered = async (socket: RawWebSocket) => {
    const { opcode, payload } = await socket.next();
    return [opcode, payload.toString()];
  };

  t.test("a text frame is answered by one, byte for byte", async (t) => {
    const socket = await open();
    t.equal(socket.status, 101);
    socket.send(call);
    t.same(await answered(socket), [opcodes.text, answer]);
    socket.end();
  });

  t.test("so is a binary frame: what it holds is the same text", async (t) => {
    const socket = await open();
    socket.send(call, { opcode: opcodes.binary });
    t.same(await answered(socket), [opcodes.text, answer]);
    socket.end();
  });

  t.test("a message in fragments, with a ping between them, is one message", async (t) => {
    const socket = await open();
    // Within the two bytes of a character, and an empty one.
    const bytes = Buffer.from(call);
    const inCharacter = bytes.indexOf(0xc3) + 1;
    socket.send(bytes.subarray(0, inCharacter), { isFinal: false });
    socket.send("are you there", { opcode: opcodes.ping });
    socket.send("", { opcode: opcodes.continuation, isFinal: false });
    socket.send(bytes.subarray(inCharacter), { opcode: opcodes.continuation });
    t.same(await answered(socket), [opcodes.pong, "are you there"]);
    t.same(await answered(socket), [opcodes.text, answer]);
    socket.end();
  });

  t.test("bytes that come one by one, and two frames that come together, are understood", async (t) => {
    const socket = await open();
    for (const byte of writeFrame(Buffer.from(call))) {
      socket.sendBytes(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.same(await answered(socket), [opcodes.text, answer]);
    const frame = writeFrame(Buffer.from(call));
    socket.sendBytes(Buffer.concat([frame, frame]));
    t.same(await answered(socket), [opcodes.text, answer]);
    t.same(await answered(socket), [opcodes.text, answer]);
    socket.end();
  });

  t.test("batches, notifications and bad requests are what they are over HTTP", async (t) => {
    const socket = await open();
    const one = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
    const notification = '{"jsonrpc":"2.0","method":"eth_chainId"}';
    for (const body of [`[${one},${notification},${one}]`, one, "{bad", "[]", '{"id":3}', "", '"text"']) {
      // A notification has no answer over either way, so what comes next is the answer to the body behind it.
      socket.send(notification);
      socket.send(body);
      const [, text] = await answered(socket);
      t.equal(text, (await gateway.post(body)).text, body);
    }
    socket.end();
  });

  t.test(
    "invalid UTF-8, a reserved bit, a wrong opcode, a fragmented ping: the connection ends",
    async (t) => {
      const wrong: [string, (socket: RawWebSocket) => void][] = [
        ["invalid UTF-8", (socket) => socket.send(Buffer.from([0x22, 0xff, 0xfe, 0x22]))],
        ["a reserved bit", (socket) => socket.send(call, { reserved: 4 })],
        ["a wrong opcode", (socket) => socket.send(call, { opcode: 3 })],
        ["a fragmented ping", (socket) => socket.send("a", { opcode: opcodes.ping, isFinal: false })],
        ["a ping of more than 125 bytes", (socket) => socket.send("a".repeat(126), { opcode: opcodes.ping })],
        ["a continuation of nothing", (socket) => socket.send(call, { opcode: opcodes.continuation })],
      ];
      for (const [name, send] of wrong) {
        const socket = await open();
        send(socket);
        t.equal(await socket.closed, undefined, `${name}: without a word`);
      }
      const neighbour = await open();
      neighbour.send(call);
      t.same(await answered(neighbour), [opcodes.text, answer], "others are served");
      neighbour.end();
    },
  );

  t.test("a frame without a mask is no call: the library takes its first four bytes for one", async (t) => {
    const socket = await open();
    const asked = validator.bodies.length;
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}', { isMasked: false });
    // The four bytes that it takes to be missing at the end.
    socket.sendBytes(Buffer.from("    "));
    const [, text] = await answered(socket);
    t.match(JSON.parse(String(text)), { id: null, error: { code: -32700 } });
    t.equal(validator.bodies.length, asked, "no validator was asked");
    socket.end();
  });

  t.test("invalid UTF-8 in a binary frame is a parse error, as over HTTP", async (t) => {
    const socket = await open();
    socket.send(Buffer.from([0x22, 0xff, 0xfe, 0x22]), { opcode: opcodes.binary });
    const [, text] = await answered(socket);
    t.match(JSON.parse(String(text)), { error: { code: -32700 } });
    socket.end();
  });

  t.test("a close frame is answered with its own code", async (t) => {
    for (const code of [1000, 1001, 4000, 4999]) {
      const socket = await open();
      socket.send(Buffer.from([code >> 8, code & 0xff]), { opcode: opcodes.close });
      t.match(await socket.closed, { code });
    }
  });

  t.test("a message may be as long as the limit; one byte more closes with 1009", async (t) => {
    const padded = (length: number) => call.replace(/}$/, `${" ".repeat(length - Buffer.byteLength(call))}}`);
    const socket = await open();
    socket.send(padded(messageBytesMax));
    t.same(await answered(socket), [opcodes.text, answer]);
    socket.send(padded(messageBytesMax + 1));
    t.match(await socket.closed, { code: 1009, reason: /too large/ });
    const inFragments = await open();
    inFragments.send(padded(messageBytesMax), { isFinal: false });
    inFragments.send(padded(messageBytesMax), { opcode: opcodes.continuation });
    t.match(await inFragments.closed, { code: 1009 });
  });

  t.test("1 000 calls in flight on one socket are answered by their ids", async (t) => {
    const client = await openWebSocket(t, gateway.url);
    const methods = ["eth_chainId", "net_version", "eth_gasPrice"];
    const wanted = Array.from({ length: 1000 }, (_, index) => methods[index % methods.length] ?? "");
    t.same(await Promise.all(wanted.map((method) => client.call(method))), wanted);
    await client.close();
  });
});
