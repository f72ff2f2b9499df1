import { relative } from "node:path";
import type { GatewayConfig } from "../../gateway/config.ts";
import type { ServiceRow } from "./service.ts";

const keysShownMax = 6;
const gap = "   ";

/** What is printed once everything is up: addresses, keys, a call to try, how to end it. 80 columns are enough for it. */
export function createTable({
  rows,
  keys,
  gatewayUrl,
  configFile,
  certFile,
  tookMs,
  cwd,
}: {
  rows: readonly ServiceRow[];
  keys: GatewayConfig["keys"];
  gatewayUrl: string;
  configFile: string;
  /** Where the gateway speaks HTTPS. */
  certFile: string | undefined;
  tookMs: number;
  cwd: string;
}): string {
  const shownKeys = keys.slice(0, keysShownMax);
  const example = keys.find(({ permissions }) => permissions.includes("rpc"));
  const rest = keys.length - shownKeys.length;
  return [
    "",
    `Tollgate is up, after ${(tookMs / 1000).toFixed(1)} s.`,
    "",
    ...columns([
      ["process", "address", "data"],
      ...rows.map(({ name, address, data }) => [name, address, shortened({ path: data, cwd })]),
    ]),
    "",
    "Keys, for the header X-API-Key:",
    "",
    ...shownKeys.flatMap(({ team, permissions, value }) => [
      `  ${team} (${permissions.join(", ")})`,
      `    ${value}`,
    ]),
    ...(rest > 0 ? [`  and ${rest} more in ${configFile}`] : []),
    "",
    ...(example === undefined
      ? []
      : ["Try:", "", ...curlLines({ url: gatewayUrl, key: example.value, certFile }), ""]),
    "Accounts of the dev chain: ten, 1 000 000 tokens each, of the public mnemonic",
    "test test test test test test test test test test test junk",
    "",
    "Ctrl-C stops everything; the same command resumes, and with --reset begins anew.",
    "",
  ].join("\n");
}

function columns(lines: readonly (readonly string[])[]): string[] {
  const widths = (lines[0] ?? []).map((_cell, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines.map((line) =>
    `  ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(gap)}`.trimEnd(),
  );
}

function curlLines({
  url,
  key,
  certFile,
}: {
  url: string;
  key: string;
  certFile: string | undefined;
}): string[] {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}';
  return [
    `  curl -s ${url} -H 'Content-Type: application/json' \\`,
    ...(certFile === undefined ? [] : [`    --cacert '${certFile}' \\`]),
    `    -H 'X-API-Key: ${key}' \\`,
    `    -d '${body}'`,
  ];
}

function shortened({ path, cwd }: { path: string; cwd: string }): string {
  return path.startsWith(`${cwd}/`) ? relative(cwd, path) : path;
}
