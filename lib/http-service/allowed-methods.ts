import type { FastifyInstance } from "fastify";

/** The methods of a path, as `Allow` lists them; undefined where the path has no route. */
export type AllowedMethods = (path: string) => string | undefined;

/** Learns the methods of each path from the routes that are added after it. Parameters take any text without a slash. */
export function collectAllowedMethods(app: FastifyInstance): AllowedMethods {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook("onRoute", ({ url, method }) => {
    const known = routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    routes.set(url, known);
    for (const name of [method].flat()) known.methods.add(name.toUpperCase());
  });
  return (path) => {
    const methods = new Set<string>();
    for (const route of routes.values()) {
      if (route.pattern.test(path)) for (const method of route.methods) methods.add(method);
    }
    return methods.size === 0 ? undefined : [...methods].sort().join(", ");
  };
}

function patternOf(url: string): RegExp {
  const parts = url.split("/").map((part) => {
    if (part.startsWith(":")) return "[^/]+";
    return part === "*" ? ".*" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("/")}$`);
}
