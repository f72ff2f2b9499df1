import type { Contestant } from "./contestant.ts";
import { haproxy } from "./contestants/haproxy.ts";
import { httpProxy } from "./contestants/http-proxy.ts";
import { nginx } from "./contestants/nginx.ts";
import { nodeUndici } from "./contestants/node-undici.ts";
import { ours } from "./contestants/ours.ts";

/** In the order in which they take turns. nginx stands first, because the others are compared with it. */
export const contestants: readonly Contestant[] = [nginx, haproxy, httpProxy, nodeUndici, ours];
