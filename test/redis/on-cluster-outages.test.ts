import { runSuite } from "./run-suite.ts";

await runSuite("outages", "cluster");
