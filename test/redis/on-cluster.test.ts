import t from "tap";
import { runSuites } from "./run-suites.ts";

t.test("limits, keys, filters and the faucet over a Redis Cluster of six nodes", async (t) => {
  await runSuites(t, "cluster");
});
