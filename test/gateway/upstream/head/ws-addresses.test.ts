import { test } from "tap";
import { wsAddresses } from "../../../../gateway/upstream/head/ws-addresses.ts";

test("the WebSocket is looked for on the same port, then on the next", async (t) => {
  const urls = ["http://10.0.0.1:8545", "http://10.0.0.2:8545"];
  t.same(wsAddresses({ url: "http://10.0.0.1:8545", wsUrl: "auto", urls }), [
    "ws://10.0.0.1:8545/",
    "ws://10.0.0.1:8546/",
  ]);
  t.same(wsAddresses({ url: "https://node.test/rpc?x=1", wsUrl: "auto", urls }), [
    "wss://node.test/rpc?x=1",
    "wss://node.test:444/rpc?x=1",
  ]);
  t.same(wsAddresses({ url: "http://node.test", wsUrl: "auto", urls }), [
    "ws://node.test/",
    "ws://node.test:81/",
  ]);
});

test("a port that is another validator's, or none, is not tried", async (t) => {
  const urls = ["http://127.0.0.1:8545", "http://127.0.0.1:8546", "http://127.0.0.1:65535"];
  t.same(wsAddresses({ url: "http://127.0.0.1:8545", wsUrl: "auto", urls }), ["ws://127.0.0.1:8545/"]);
  t.same(wsAddresses({ url: "http://127.0.0.1:65535", wsUrl: "auto", urls }), ["ws://127.0.0.1:65535/"]);
});

test("an address that is given is the only one", async (t) => {
  const url = "http://127.0.0.1:8545";
  t.same(wsAddresses({ url, wsUrl: "ws://127.0.0.1:9000", urls: [url] }), ["ws://127.0.0.1:9000"]);
  t.same(wsAddresses({ url, wsUrl: "none", urls: [url] }), []);
});
