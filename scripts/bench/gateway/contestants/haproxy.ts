import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Contestant, Setup } from "../contestant.ts";

export const haproxy: Contestant = {
  name: "haproxy",
  title: "HAProxy: keys in a map, a stick-table counts them, keep-alive, one thread",
  program: { name: "haproxy", debianPackage: "haproxy", versionFlag: "-v" },
  keepsLimits: true,
  usesRedis: false,
  prepare(setup) {
    const keysFile = join(setup.folder, "keys.map");
    const file = join(setup.folder, "haproxy.cfg");
    writeFileSync(
      keysFile,
      setup.keys.map(({ value, limitPerMinute }) => `${value} ${limitPerMinute}\n`).join(""),
    );
    writeFileSync(file, configuration(setup, keysFile));
    return { program: setup.programs["haproxy"] ?? "haproxy", args: ["-db", "-f", file] };
  },
};

function configuration({ port, validatorPorts }: Setup, keysFile: string): string {
  return `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  http-reuse always
  timeout connect 1s
  timeout client 60s
  timeout server 10s
  timeout http-keep-alive 60s
frontend rpc
  bind 127.0.0.1:${port}
  stick-table type string len 64 size 10k expire 2m store http_req_rate(60s)
  http-request set-var(txn.limit) req.fhdr(x-api-key),map_str_int(${keysFile},0)
  http-request deny deny_status 401 unless { var(txn.limit) -m int gt 0 }
  http-request track-sc0 req.fhdr(x-api-key)
  http-request deny deny_status 429 if { sc_http_req_rate(0),sub(txn.limit) gt 0 }
  http-request del-header x-api-key
  default_backend validators
backend validators
  balance roundrobin
${validatorPorts.map((validator) => `  server validator-${validator} 127.0.0.1:${validator}`).join("\n")}
`;
}
