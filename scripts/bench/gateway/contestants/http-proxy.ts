import type { Contestant } from "../contestant.ts";
import { nodeServer } from "./node-server.ts";

export const httpProxy: Contestant = {
  name: "http-proxy",
  title: "http-proxy (http-proxy-3) over node:http: keys in a Map, no limits, keep-alive",
  keepsLimits: false,
  usesRedis: false,
  prepare: (setup) => nodeServer("http-proxy-server.ts", setup),
};
