import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

type Schema = { [name: string]: unknown };
const schema = z.record(z.string(), z.unknown());

const openApi = z.object({ definitions: z.record(z.string(), schema) });
const kindsOf = z.array(z.object({ group: z.string(), version: z.string(), kind: z.string() })).default([]);
const definitionKinds = z.looseObject({ "x-kubernetes-group-version-kind": kindsOf });
const resourceDefinition = z.object({
  spec: z.object({
    group: z.string(),
    names: z.object({ kind: z.string() }),
    versions: z.array(z.object({ name: z.string(), schema: z.object({ openAPIV3Schema: schema }) })),
  }),
});

/** Where kubeconform finds what `writeSchemas` writes. */
export const schemaLocation = "{{ .Group }}-{{ .ResourceAPIVersion }}-{{ .ResourceKind }}.json";

/**
 * Writes JSON schemas for kubeconform, one for each of `kinds`, out of Kubernetes' OpenAPI (`kubernetesFile`) and of the custom resource
 * definitions beside it. Keys that are not known are refused, as by an API server with `--validate=strict`. A kind that nobody knows
 * gets none, which kubeconform tells of.
 */
export function writeSchemas({
  openapi,
  kubernetesFile,
  kinds,
  folder,
}: {
  openapi: string;
  kubernetesFile: string;
  kinds: ReadonlySet<string>;
  folder: string;
}): void {
  mkdirSync(folder, { recursive: true });
  const file = readFileSync(join(openapi, kubernetesFile), "utf8");
  const { definitions } = openApi.parse(JSON.parse(file));
  const write = (
    { group, version, kind }: { group: string; version: string; kind: string },
    content: Schema,
  ) => {
    if (!kinds.has(kind)) return;
    // kubeconform takes the version for the group of those that have none.
    const name = `${group || version}-${version}-${kind}`.toLowerCase();
    const whole = { ...content, definitions: definitionsOf(content, definitions) };
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(whole));
  };
  for (const [name, definition] of Object.entries(definitions)) {
    for (const kind of definitionKinds.parse(definition)["x-kubernetes-group-version-kind"])
      write(kind, { $ref: `#/definitions/${name}` });
  }
  for (const name of readdirSync(openapi).filter((name) => name.endsWith(".yaml"))) {
    const { spec } = resourceDefinition.parse(parse(readFileSync(join(openapi, name), "utf8")));
    for (const version of spec.versions) {
      const { properties } = z.looseObject({ properties: schema }).parse(version.schema.openAPIV3Schema);
      const whole = strictly(version.schema.openAPIV3Schema);
      const known = schema.parse(strictly({ properties })["properties"]);
      // A custom resource's metadata is every object's, which its definition does not repeat.
      const metadata = { $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" };
      write(
        { ...spec.names, group: spec.group, version: version.name },
        { ...whole, properties: { ...known, metadata } },
      );
    }
  }
}

/** What a schema refers to, and what that does, as strict schemas: a file of its own each is read many times as fast as all of them. */
function definitionsOf(
  content: Schema,
  definitions: Readonly<Record<string, Schema>>,
): Record<string, Schema> {
  const found: Record<string, Schema> = {};
  const take = (text: string) => {
    for (const [, name = ""] of text.matchAll(/"#\/definitions\/([^"]+)"/g)) {
      const definition = definitions[name];
      if (definition === undefined || name in found) continue;
      found[name] = strictly(definition);
      take(JSON.stringify(definition));
    }
  };
  take(JSON.stringify(content));
  return found;
}

/** A schema in which objects with known keys take no others, and integers or texts are both taken where either fits. */
function strictly(given: Schema): Schema {
  const entries = Object.entries(given).map(([key, value]): [string, unknown] => {
    if (key === "properties") {
      const properties = Object.entries(schema.parse(value));
      return [key, Object.fromEntries(properties.map(([name, inner]) => [name, deeper(inner)]))];
    }
    return [key, deeper(value)];
  });
  const { type, format, ...rest } = Object.fromEntries(entries);
  if (format === "int-or-string" || rest["x-kubernetes-int-or-string"] === true)
    return { anyOf: [{ type: "integer" }, { type: "string" }] };
  const open = rest["x-kubernetes-preserve-unknown-fields"] === true || "additionalProperties" in rest;
  return {
    ...(type === undefined ? {} : { type }),
    ...rest,
    ...("properties" in rest && !open ? { additionalProperties: false } : {}),
  };
}

function deeper(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deeper);
  const read = schema.safeParse(value);
  return read.success ? strictly(read.data) : value;
}
