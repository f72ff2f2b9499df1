import { createServer } from "node:http";
import t, { type Test } from "tap";
import { createRpcClient } from "../../../lib/chain/rpc-client.ts";

type Call = { id: number; method: string };

/** A node that answers with what `reply` makes of what it was asked. */
async function startNode(t: Test, reply: (body: Call | Call[]) => { status?: number; text: string }) {
  const seen: (Call | Call[])[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body: Call | Call[] = JSON.parse(Buffer.concat(chunks).toString());
    seen.push(body);
    const { status = 200, text } = reply(body);
    response.writeHead(status, { "Content-Type": "application/json" }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
  const rpc = createRpcClient({ url, timeoutMs: 2000 });
  t.teardown(async () => {
    await rpc.stop();
    server.closeAllConnections();
    server.close();
  });
  return { rpc, seen, url };
}

const answer = (id: number, rest: object) => ({ jsonrpc: "2.0", id, ...rest });

t.test("results come in the order of the calls, in arrays of at most a hundred", async (t) => {
  const { rpc, seen } = await startNode(t, (body) => {
    const calls = Array.isArray(body) ? body : [body];
    return { text: JSON.stringify(calls.map(({ id, method }) => answer(id, { result: method })).reverse()) };
  });
  const calls = Array.from({ length: 150 }, (_, index) => ({ method: `m${index}`, params: [] }));
  const answers = await rpc.askAll(calls);
  t.same(
    answers,
    calls.map(({ method }) => ({ result: method })),
  );
  t.same(
    seen.map((body) => (Array.isArray(body) ? body.length : 1)),
    [100, 50],
  );
});

t.test("an error of the node is a value, with its data", async (t) => {
  const error = { code: 3, message: "execution reverted", data: "0x08c379a0" };
  const { rpc } = await startNode(t, (body) => ({
    text: JSON.stringify(answer(Array.isArray(body) ? 0 : body.id, { error })),
  }));
  t.same(await rpc.ask("eth_call", []), { error: { ...error, ofGateway: false } });
});

t.test("what a gateway says in the node's place is marked, with its id or without", async (t) => {
  const error = { code: -32_090, message: "The API key is unknown", data: { code: "api_key_invalid" } };
  const { rpc } = await startNode(t, () => ({
    status: 401,
    text: JSON.stringify({ jsonrpc: "2.0", id: null, error }),
  }));
  t.match(await rpc.ask("eth_chainId", []), { error: { code: -32_090, ofGateway: true } });
  await t.rejects(rpc.askAll([{ method: "eth_chainId", params: [] }]), {
    name: "ChainUnavailableError",
    message: /one error: The API key is unknown/,
  });
});

t.test("a node that does not answer, or with something else, is unavailable", async (t) => {
  const bodies = ["<html>", "{}", '{"id":999,"result":1}', "[]"];
  for (const text of bodies) {
    const { rpc } = await startNode(t, () => ({ text }));
    await t.rejects(rpc.ask("eth_chainId", []), { name: "ChainUnavailableError" }, text);
    await t.rejects(
      rpc.askAll([{ method: "eth_chainId", params: [] }]),
      { name: "ChainUnavailableError" },
      text,
    );
  }
  const { rpc, url } = await startNode(t, () => ({ text: "" }));
  await rpc.stop();
  const away = createRpcClient({ url: url.replace(/:\d+/, ":1"), timeoutMs: 500 });
  await t.rejects(away.ask("eth_chainId", []), { name: "ChainUnavailableError" });
  await away.stop();
});
