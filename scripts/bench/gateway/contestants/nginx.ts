import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Contestant, Setup } from "../contestant.ts";

/** Connections to validators that are kept open while nothing is asked: one for each connection of the load. */
const keptConnections = 64;
const exactLimitMax = 6000;

export const nginx: Contestant = {
  name: "nginx",
  title: "nginx: keys in a map, limit_req, keep-alive upstreams, one worker",
  program: { name: "nginx", debianPackage: "nginx", versionFlag: "-v" },
  keepsLimits: true,
  usesRedis: false,
  prepare(setup) {
    const file = join(setup.folder, "nginx.conf");
    writeFileSync(file, configuration(setup));
    return {
      program: setup.programs["nginx"] ?? "nginx",
      args: ["-p", setup.folder, "-c", file, "-e", join(setup.folder, "error.log")],
    };
  },
};

/**
 * A zone has one rate, so there are two zones: the high limit for every key, and the exact one for keys with a name in
 * its map. A limit of n a minute is that rate with a burst of n. nginx counts by the millisecond, so the high limit
 * needs a burst for one millisecond.
 */
function configuration({ folder, port, validatorPorts, keys }: Setup): string {
  const exactKeys = keys.filter(({ limitPerMinute }) => limitPerMinute <= exactLimitMax);
  const exact = exactKeys[0]?.limitPerMinute ?? exactLimitMax;
  const highest = Math.max(...keys.map(({ limitPerMinute }) => limitPerMinute));
  return `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  map_hash_bucket_size 128;
  map $http_x_api_key $is_known {
    default 0;
${keys.map(({ value }) => `    "${value}" 1;`).join("\n")}
  }
  map $http_x_api_key $exact_key {
    default "";
${exactKeys.map(({ value }) => `    "${value}" "${value}";`).join("\n")}
  }
  limit_req_zone $http_x_api_key zone=high:10m rate=${Math.ceil(highest / 60)}r/s;
  limit_req_zone $exact_key zone=exact:1m rate=${exact}r/m;
  limit_req_status 429;
  upstream validators {
${validatorPorts.map((validator) => `    server 127.0.0.1:${validator};`).join("\n")}
    keepalive ${keptConnections};
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      if ($is_known = 0) { return 401; }
      limit_req zone=high burst=100000 nodelay;
      limit_req zone=exact burst=${exact - 1} nodelay;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header X-API-Key "";
      proxy_pass http://validators;
    }
  }
}
`;
}
