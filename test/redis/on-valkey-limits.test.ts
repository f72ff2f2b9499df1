import { runSuite } from "./run-suite.ts";

await runSuite("limits", "valkey");
