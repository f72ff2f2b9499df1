import { parseArgs } from "node:util";

export type WalletProxyOptions = {
  /** http:// or https://, without a path. */
  gatewayUrl: string;
  keyFile: string;
  port: number;
  /** Origins of pages that are let in besides loopback. */
  sites: readonly string[];
  caFile: string | undefined;
};

export type ReadOptions =
  | { kind: "run"; options: WalletProxyOptions }
  | { kind: "help"; text: string }
  | { kind: "unusable"; text: string };

const portDefault = 8541;

const usage = `Usage: tollgate-wallet-proxy --gateway URL --key-file FILE [options]
   or: npm run wallet-proxy -- --gateway URL --key-file FILE [options]

Lets browser wallets use a gateway: listens on 127.0.0.1 and adds your API key.

  --gateway URL    the gateway's address, e.g. https://rpc.example
  --key-file FILE  a file with your API key and nothing else (chmod 600)
  --port PORT      where wallets connect (default: ${portDefault})
  --origin SITE    also lets in pages of this site, e.g. https://dapp.example;
                   may be repeated. Pages from this machine and browser
                   extensions always are.
  --ca FILE        certificates (PEM) to trust for the gateway instead of the
                   public authorities'
  --help           this text
`;

/** Reads the command line of the wallet proxy; `unusable` says what was expected. */
export function readOptions(args: readonly string[]): ReadOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        gateway: { type: "string" },
        "key-file": { type: "string" },
        port: { type: "string", default: String(portDefault) },
        origin: { type: "string", multiple: true, default: [] },
        ca: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return { kind: "help", text: usage };
    return {
      kind: "run",
      options: {
        gatewayUrl: readOrigin("--gateway", values.gateway),
        keyFile: required("--key-file", values["key-file"]),
        port: readPort(values.port),
        sites: values.origin.map((site) => readOrigin("--origin", site)),
        caFile: values.ca,
      },
    };
  } catch (error) {
    return { kind: "unusable", text: `${error instanceof Error ? error.message : error}\n\n${usage}` };
  }
}

function required(name: string, value: string | undefined): string {
  if (value === undefined || value === "") throw new Error(`${name} is missing`);
  return value;
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Error(`--port: a port, 0 to 65535, was expected, not "${text}"`);
}

/** Scheme, host and port as browsers write them in Origin (RFC 6454 section 6.2). */
function readOrigin(name: string, value: string | undefined): string {
  const text = required(name, value);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    `${url.origin}/` === url.href &&
    !text.includes("*");
  if (!isPlain) {
    throw new Error(`${name}: an address such as https://rpc.example was expected, without a path or a user`);
  }
  return url.origin;
}
