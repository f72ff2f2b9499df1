import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import t from "tap";
import { WebSocket, WebSocketServer } from "ws";
import { basicAuthorization } from "../../../../gateway/upstream/basic-authorization.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { createHeaderChain } from "./header-chain.ts";
import { startTracker } from "./start-tracker.ts";
import { startStubNode } from "./stub-node.ts";

const expected = `Basic ${Buffer.from("user:pa:ss").toString("base64")}`;

t.test("a validator behind a proxy that wants a password is asked and heard with it", async (t) => {
  const node = await startStubNode(t, { chain: createHeaderChain("ours"), height: 3 });
  const proxy = createServer(async (request, response) => {
    if (request.headers.authorization !== expected) return response.writeHead(401).end();
    const answer = await fetch(node.url, { method: "POST", body: await text(request) });
    return response.end(await answer.text());
  });
  const upgraded = new WebSocketServer({ noServer: true });
  proxy.on("upgrade", (request, socket, head) => {
    if (request.headers.authorization !== expected) return socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
    return upgraded.handleUpgrade(request, socket, head, (client) => {
      const behind = new WebSocket(node.url.replace("http", "ws"));
      client.on("message", async (data) => {
        if (behind.readyState === WebSocket.CONNECTING) await once(behind, "open");
        behind.send(String(data));
      });
      behind.on("message", (data) => client.send(String(data)));
      client.on("close", () => behind.close());
    });
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.teardown(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const address = proxy.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const tracker = startTracker(t, { validators: [{ url: `http://user:pa%3Ass@127.0.0.1:${port}` }] });
  await waitFor("its head is announced", () => tracker.announced()?.number === 3n);
  await waitFor("its heads come by WebSocket", () => tracker.said("heads by WebSocket").length > 0);
  node.mine();
  await waitFor("the next one is heard", () => tracker.announced()?.number === 4n);
  t.notMatch(JSON.stringify(tracker.status()), /user|pa%3Ass|pa:ss/);
  const withoutIt = startTracker(t, { validators: [{ url: `http://127.0.0.1:${port}` }] });
  await waitFor("it is known to fail", () => withoutIt.said("validator does not answer").length > 0);
  t.equal(withoutIt.announced(), undefined);
});

t.test("a user and a password are written as RFC 7617 has it, whatever they hold", async (t) => {
  const sent = (url: string) =>
    Buffer.from(basicAuthorization(url)?.replace("Basic ", "") ?? "", "base64").toString();
  t.equal(sent("http://user:pa%3Ass@node:8545"), "user:pa:ss");
  t.equal(sent("http://us%C3%A9r@node:8545"), "usér:");
  t.equal(sent("http://:100%25@node:8545"), ":100%");
  t.equal(sent("http://user:100%@node:8545"), "user:100%", "not an escape, and still a URL");
  t.equal(basicAuthorization("http://node:8545"), undefined);
});
