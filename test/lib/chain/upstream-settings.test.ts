import { createServer } from "node:http";
import t, { type Test } from "tap";
import { createRpcClient } from "../../../lib/chain/rpc-client.ts";
import { upstreamOf } from "../../../lib/chain/upstream-settings.ts";
import { waitFor } from "../../helpers/wait-for.ts";

/** A node that answers with its name, when it is let. */
async function startNode(t: Test, name: string) {
  const asked: (string | undefined)[] = [];
  const held: (() => void)[] = [];
  let holds = false;
  const server = createServer(async (request, response) => {
    asked.push(request.headers["x-api-key"]?.toString());
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { id }: { id: number } = JSON.parse(text);
    if (holds) await new Promise<void>((resolve) => held.push(resolve));
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: name }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    asked,
    held,
    hold: () => {
      holds = true;
    },
  };
}

t.test("a call that is under way ends where it began, the next goes where the settings say", async (t) => {
  const [old, young] = [await startNode(t, "old"), await startNode(t, "young")];
  const settings = { upstream: old.url, upstreamApiKey: "", upstreamTimeoutMs: 5000 };
  const rpc = createRpcClient(upstreamOf(settings));
  t.teardown(() => rpc.stop());
  old.hold();
  const underWay = rpc.ask("eth_chainId", []);
  await waitFor("it is asked", () => old.held.length === 1);
  Object.assign(settings, { upstream: young.url, upstreamApiKey: "another key" });
  t.same(await rpc.ask("eth_chainId", []), { result: "young" });
  for (const answer of old.held) answer();
  t.same(await underWay, { result: "old" });
  t.same([old.asked, young.asked], [[undefined], ["another key"]]);
});

t.test("a shorter time counts for the next call, and bounds of its own stay", async (t) => {
  const node = await startNode(t, "slow");
  node.hold();
  const settings = { upstream: node.url, upstreamApiKey: "", upstreamTimeoutMs: 60_000 };
  const rpc = createRpcClient(upstreamOf(settings));
  const bounded = createRpcClient(upstreamOf(settings, { timeoutMs: () => 50 }));
  t.teardown(async () => {
    await rpc.stop();
    await bounded.stop();
  });
  await t.rejects(bounded.ask("eth_chainId", []), { name: "ChainUnavailableError" });
  settings.upstreamTimeoutMs = 50;
  await t.rejects(rpc.ask("eth_chainId", []), { name: "ChainUnavailableError" });
});

t.test("one that is retired answers what it was asked", async (t) => {
  const node = await startNode(t, "leaving");
  node.hold();
  const rpc = createRpcClient({ url: node.url, timeoutMs: 5000 });
  const underWay = rpc.ask("eth_chainId", []);
  await waitFor("it is asked", () => node.held.length === 1);
  const retired = rpc.retire();
  for (const answer of node.held) answer();
  t.same(await underWay, { result: "leaving" });
  await retired;
});
