import t from "tap";
import { waitFor } from "../../helpers/wait-for.ts";
import { startApi } from "../support/start-api.ts";
import { startServices } from "../support/start-world.ts";

const { anvil, ...services } = await startServices(t);
await anvil.rpc("anvil_mine", ["0x3"]);

t.test("a copy that is still right is answered with 304 and costs nothing", async (t) => {
  const api = await startApi(t, {
    ...services,
    change: (config) => ({ ...config, limits: { points: 3, windowSeconds: 60 } }),
  });
  const first = await api.get("/api/v1/blocks/1");
  const etag = first.headers.get("etag") ?? "";
  t.match(etag, /^"[A-Za-z0-9_-]{22}"$/);
  t.equal(first.headers.get("cache-control"), "no-cache", "a development chain's numbers come again");
  t.match(first.headers.get("ratelimit"), /r=2/);
  for (let round = 0; round < 10; round += 1) {
    const again = await api.get("/api/v1/blocks/1", { "If-None-Match": `W/"x", ${etag}` });
    t.equal(again.status, 304);
    t.equal(again.text, "");
    t.equal(again.headers.get("etag"), etag);
  }
  t.match((await api.get("/api/v1/blocks/1")).headers.get("ratelimit"), /r=1/);
  const head = await fetch(`${api.url}/api/v1/blocks/1`, { method: "HEAD" });
  t.same([head.status, await head.text(), head.headers.get("etag")], [200, "", etag]);
  t.match(await api.get("/api/v1/blocks/1"), { status: 429 });
});

t.test("what is true for the newest block changes with it, and a reset chain leaves nothing", async (t) => {
  const api = await startApi(t, services);
  const heightOf = async () => JSON.stringify((await api.get("/api/v1/blocks/latest")).json);
  const before = await heightOf();
  await anvil.rpc("anvil_mine", ["0x1"]);
  await waitFor("the new head is told", async () => (await heightOf()) !== before);
  const old = (await api.get("/api/v1/blocks/2")).text;
  await anvil.rpc("anvil_rollback", [3]);
  await anvil.rpc("evm_increaseTime", ["0x64"]);
  await anvil.rpc("anvil_mine", ["0x5"]);
  await waitFor("block 2 is the new chain's", async () => (await api.get("/api/v1/blocks/2")).text !== old);
});
