import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { fastify } from "fastify";
import { etagOf } from "../../rest/etag.ts";

/** A file of somebody else's program; megabytes, so it is read when it is first asked for. */
export type ToolFile = {
  path: string;
  type: string;
  read(): Promise<{ etag: string; plain: Buffer; gzipped: Buffer }>;
};

const compress = promisify(gzip);
const scriptType = "text/javascript; charset=utf-8";
const styleType = "text/css; charset=utf-8";
const own = new URL("assets/", import.meta.url);
const packages = new URL("../../../node_modules/", import.meta.url);

function toolFile(path: string, type: string, load: () => Promise<Buffer>): ToolFile {
  let loading: ReturnType<ToolFile["read"]> | undefined;
  return {
    path,
    type,
    read() {
      loading ??= (async () => {
        const plain = await load();
        return { plain, etag: etagOf(plain), gzipped: await compress(plain) };
      })();
      return loading;
    },
  };
}

/** Scalar, the reference in which requests are tried. */
export const scalarFiles: readonly ToolFile[] = [
  toolFile("/docs/scalar.js", scriptType, scalarScript),
  toolFile("/docs/try.js", scriptType, () => readFile(new URL("try.js", own))),
];

/**
 * Its package holds the script inside a plugin for Fastify and hands it out by a route alone. The plugin's own page has
 * inline scripts, so only the script is taken.
 */
async function scalarScript(): Promise<Buffer> {
  const { default: plugin } = await import("@scalar/fastify-api-reference");
  const app = fastify();
  await app.register(plugin, { routePrefix: "/scalar", configuration: { url: "/openapi.json" } });
  const { statusCode, rawPayload } = await app.inject("/scalar/js/scalar.js");
  await app.close();
  if (statusCode !== 200) throw new Error("@scalar/fastify-api-reference does not hand out its script");
  return rawPayload;
}

const graphiqlPackages: readonly (readonly [name: string, type: string, file: string])[] = [
  ["graphiql.css", styleType, "graphiql/graphiql.min.css"],
  ["react.js", scriptType, "react/umd/react.production.min.js"],
  ["react-dom.js", scriptType, "react-dom/umd/react-dom.production.min.js"],
  ["graphiql.js", scriptType, "graphiql/graphiql.min.js"],
];

/** GraphiQL, a package of development; undefined where it is not installed. */
export function graphiqlFiles(): readonly ToolFile[] | undefined {
  if (!graphiqlPackages.every(([, , file]) => existsSync(new URL(file, packages)))) return undefined;
  return [
    ...graphiqlPackages.map(([name, type, file]) =>
      toolFile(`/graphiql/${name}`, type, () => readFile(new URL(file, packages))),
    ),
    toolFile("/graphiql/start.js", scriptType, () => readFile(new URL("graphiql.js", own))),
    toolFile("/graphiql/start.css", styleType, () => readFile(new URL("graphiql.css", own))),
  ];
}
