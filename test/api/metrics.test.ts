import t from "tap";
import { waitFor } from "../helpers/wait-for.ts";
import { startApi } from "./support/start-api.ts";
import { startServices } from "./support/start-world.ts";

const api = await startApi(t, await startServices(t));

const metrics = async () => (await fetch(`${api.opsUrl}/metrics`)).text();

t.test(
  "requests are counted by the route and the status, and no path makes a series of its own",
  async (t) => {
    for (const path of [
      "/api/v1/chain",
      "/api/v1/blocks/0",
      "/api/v1/blocks/none",
      "/nothing",
      "/api/v1/x?y=1",
    ]) {
      await api.get(path);
    }
    await fetch(`${api.url}/api/v1/chain`, { method: "POST" });
    const text = await waitFor("all are counted", async () => {
      const told = await metrics();
      return told.includes('status="405"') && told;
    });
    const counted = text.split("\n").filter((line) => line.startsWith("tollgate_api_requests_total{"));
    t.same(counted.toSorted(), [
      'tollgate_api_requests_total{route="/api/v1/blocks/:number",status="200"} 1',
      'tollgate_api_requests_total{route="/api/v1/blocks/:number",status="400"} 1',
      'tollgate_api_requests_total{route="/api/v1/chain",status="200"} 1',
      'tollgate_api_requests_total{route="none",status="404"} 2',
      'tollgate_api_requests_total{route="none",status="405"} 1',
    ]);
    t.match(text, /^tollgate_api_request_seconds_count 6$/m);
  },
);

t.test("who listens to live events is counted while it does", async (t) => {
  const listening = new AbortController();
  await fetch(`${api.url}/api/v1/live`, { signal: listening.signal });
  t.match(await metrics(), /^tollgate_api_live_clients 1$/m);
  listening.abort();
  await waitFor("it has gone", async () => (await metrics()).includes("\ntollgate_api_live_clients 0\n"));
  t.match(await metrics(), /^tollgate_api_request_seconds_count 6$/m, "a stream is no slow answer");
});

t.test("what the API stands on is told to be there", async (t) => {
  await waitFor("all are there", async () => {
    const told = await metrics();
    return ["chain", "redis", "postgres"].every((name) =>
      told.includes(`tollgate_api_dependency_away{dependency="${name}"} 0`),
    );
  });
  t.pass();
});
