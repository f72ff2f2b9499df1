/** Where time can go: the gateway's folders, the packages on the hot path, Node, and what is not JavaScript. */
const rooms = [
  { room: "gateway/http", start: "gateway/server/" },
  { room: "gateway/json-rpc", start: "gateway/json-rpc/" },
  { room: "gateway/limits", start: "gateway/limits/" },
  { room: "gateway/stages", start: "gateway/pipeline/stages/" },
  { room: "gateway/upstream", start: "gateway/upstream/" },
  { room: "gateway, other", start: "gateway/" },
  { room: "lib", start: "lib/" },
  { room: "undici", start: "node_modules/undici/" },
  { room: "ioredis", start: "node_modules/ioredis/" },
  { room: "lru-cache", start: "node_modules/lru-cache/" },
  { room: "pino", start: "node_modules/pino/" },
  { room: "prom-client", start: "node_modules/prom-client/" },
  { room: "Node", start: "node:" },
] as const;

export type Room = (typeof rooms)[number]["room"] | "other packages" | "GC" | "native";

/** @param path from the project's root on, or `node:…`. */
export function roomOf(path: string): Room {
  return rooms.find(({ start }) => path.startsWith(start))?.room ?? "other packages";
}
