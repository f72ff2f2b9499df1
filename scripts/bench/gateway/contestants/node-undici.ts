import type { Contestant } from "../contestant.ts";
import { nodeServer } from "./node-server.ts";

export const nodeUndici: Contestant = {
  name: "node-undici",
  title: "node:http + undici + rate-limiter-flexible: keys in a Map, a Redis question for each request",
  keepsLimits: true,
  usesRedis: true,
  prepare: (setup) => nodeServer("node-undici-server.ts", setup),
};
