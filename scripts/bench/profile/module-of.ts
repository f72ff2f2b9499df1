/** Where time can go: the gateway's folders, the packages on the hot path, Node, and what is not JavaScript. */
const modules = [
  { module: "gateway/server", start: "gateway/server/" },
  { module: "gateway/json-rpc", start: "gateway/json-rpc/" },
  { module: "gateway/limits", start: "gateway/limits/" },
  { module: "gateway/pipeline", start: "gateway/pipeline/" },
  { module: "gateway/upstream", start: "gateway/upstream/" },
  { module: "gateway, other", start: "gateway/" },
  { module: "lib", start: "lib/" },
  { module: "undici", start: "node_modules/undici/" },
  { module: "ioredis", start: "node_modules/ioredis/" },
  { module: "lru-cache", start: "node_modules/lru-cache/" },
  { module: "pino", start: "node_modules/pino/" },
  { module: "prom-client", start: "node_modules/prom-client/" },
  { module: "Node", start: "node:" },
] as const;

export type Module = (typeof modules)[number]["module"] | "other packages" | "GC" | "native";

/** @param path from the project's root on, or `node:…`. */
export function moduleOf(path: string): Module {
  return modules.find(({ start }) => path.startsWith(start))?.module ?? "other packages";
}
