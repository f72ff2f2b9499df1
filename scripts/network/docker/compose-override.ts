import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Manifest } from "../../../genesis/manifest.ts";
import { keptConfigFolder } from "../upgrade/kept-config.ts";
import { followers, serviceNames } from "../upgrade/services.ts";
import { readVersions, type Versions, versionFor } from "../upgrade/versions-file.ts";

/** The validators of docker/compose.yaml; any other node needs a service of its own. */
export const shippedNames: readonly string[] = [1, 2, 3, 4, 5].map((number) => `validator-${number}`);
export const composeFile = fileURLToPath(new URL("../../../docker/compose.yaml", import.meta.url));
const fileName = "compose.validators.yaml";
/** Services of this profile are not started by a bare `compose up`. */
export const formerProfile = "former";

/**
 * The file that goes behind docker/compose.yaml where validators have come or gone, or `upgrade` has changed what some run; undefined where the
 * five of the beginning are the nodes, and the environment says what all run. It is written anew for each command, so it always fits
 * network.json and versions.json.
 */
export async function writeComposeOverride(folder: string, manifest: Manifest): Promise<string | undefined> {
  const override = withImages(composeOverride(manifest), manifest, await readVersions(folder));
  const file = join(folder, fileName);
  if (override === undefined) {
    await rm(file, { force: true });
    return undefined;
  }
  const text = `# Written by npm run network: the validators of network.json that docker/compose.yaml has not, those that are none any more, and the images of versions.json.\n${JSON.stringify(override, null, 2)}\n`;
  if ((await readFile(file, "utf8").catch(() => "")) === text) return file;
  const next = `${file}.${process.pid}.new`;
  await writeFile(next, text);
  await rename(next, file);
  return file;
}

/** What docker/compose.yaml does not say of this network's validators. JSON is YAML. */
export function composeOverride({ validators, formerValidators = [] }: Manifest) {
  const added = [...validators, ...formerValidators].filter(({ name }) => !shippedNames.includes(name));
  const former = formerValidators.map(({ name }) => name);
  if (added.length === 0 && former.length === 0) return undefined;
  // A gateway does not wait for those that are gone.
  const gone = shippedNames.filter((name) => former.includes(name));
  return {
    services: {
      ...(added.length === 0
        ? {}
        : { volumes: { volumes: added.map(({ name }) => dataVolume(name, `/volumes/${name}`)) } }),
      ...Object.fromEntries(
        added.map(({ name, host }) => [
          name,
          former.includes(name) ? { ...service(name, host), ...notStarted } : service(name, host),
        ]),
      ),
      ...Object.fromEntries(gone.map((name) => [name, notStarted])),
      ...(gone.length === 0
        ? {}
        : {
            gateway: {
              depends_on: Object.fromEntries(
                gone.map((name) => [name, { condition: "service_healthy", required: false }]),
              ),
            },
          }),
    },
    ...(added.length === 0 ? {} : { volumes: Object.fromEntries(added.map(({ name }) => [name, {}])) }),
  };
}

/** What `upgrade` has chosen: the image of a node as of what stands beside it, and whose configuration a process reads. */
export function withImages(
  override: ReturnType<typeof composeOverride>,
  { validators, formerValidators = [], traceNode }: Manifest,
  { besuImage, image }: Versions,
) {
  const nodes = [...validators, ...formerValidators, ...(traceNode === undefined ? [] : [traceNode])];
  const chosen = [
    ...nodes.map(({ name }) => [name, versionFor(besuImage, name)] as const),
    // It gives volumes to their user. Once no node runs the image of before, nobody keeps that one.
    ["volumes", besuImage.use] as const,
    ...serviceNames.map((name) => [name, versionFor(image, name)] as const),
    ...Object.entries(followers).map(([name, leader]) => [name, versionFor(image, leader)] as const),
  ];
  const images = chosen.flatMap(([name, text]) =>
    text === undefined ? [] : [[name, { image: text }] as const],
  );
  if (images.length === 0 && image.config === undefined) return override;
  const services: Record<string, object> = { ...override?.services };
  for (const [name, { image: text }] of images) services[name] = { ...services[name], image: text };
  const keptBy = new Map(
    [...serviceNames, ...Object.keys(followers)].flatMap((name) => {
      const version = image.config?.[followers[name] ?? name];
      return version === undefined
        ? []
        : [[name, `\${NETWORK_FOLDER}/${keptConfigFolder}/${version}`] as const];
    }),
  );
  for (const [name, source] of keptBy) {
    const mount = {
      ...{ type: "bind", read_only: true, source, target: "/app/config" },
      bind: { create_host_path: false },
    };
    services[name] = { ...services[name], volumes: [mount] };
  }
  const apis = keptBy.get("api");
  const configs =
    apis === undefined ? {} : { configs: { fees: { file: `\${FEES_FILE:-${apis}/fees.yaml}` } } };
  return { ...override, services, ...configs };
}

const notStarted = { profiles: [formerProfile] };

function service(name: string, host: string) {
  return {
    extends: { file: composeFile, service: "validator-1" },
    networks: { validators: { ipv4_address: host } },
    volumes: [dataVolume(name, "/var/lib/besu"), file(name, "config.toml"), file(name, "key")],
  };
}

function dataVolume(source: string, target: string) {
  return { type: "volume", source, target, volume: { nocopy: true } };
}

function file(name: string, path: string) {
  return {
    type: "bind",
    read_only: true,
    source: `\${NETWORK_FOLDER}/${name}/${path}`,
    target: `/etc/besu/${path}`,
    bind: { create_host_path: false },
  };
}
