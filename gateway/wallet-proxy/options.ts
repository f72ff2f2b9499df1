import type { SingleProgram } from "../../lib/cli/command.ts";
import { type Read, type ReadProgram, readProgram, readValue } from "../../lib/cli/read-program.ts";
import { portNumber } from "../../lib/cli/values.ts";

export type WalletProxyOptions = {
  /** http:// or https://, without a path. */
  gatewayUrl: string;
  keyFile: string;
  port: number;
  /** Origins of pages that are let in besides loopback. */
  sites: readonly string[];
  caFile: string | undefined;
  explorerUrl: string | undefined;
  faucetUrl: string | undefined;
};

const program: SingleProgram = {
  invocation: "tollgate-wallet-proxy",
  summary:
    "Lets browser wallets use a gateway: listens on 127.0.0.1 and adds your API key. In a checkout: npm run wallet-proxy --",
  options: {
    gateway: { value: "URL", text: "the gateway's address, e.g. https://rpc.example", required: true },
    "key-file": {
      value: "FILE",
      text: "a file with your API key and nothing else (chmod 600)",
      required: true,
    },
    port: { value: "PORT", text: "where wallets connect", default: "8541" },
    origin: {
      value: "SITE",
      text: "also lets in pages of this site, e.g. https://dapp.example; may be repeated",
      multiple: true,
    },
    ca: {
      value: "FILE",
      text: "certificates (PEM) to trust for the gateway instead of the public authorities'",
    },
    explorer: {
      value: "URL",
      text: "the explorer that wallets are told of, instead of the one behind the gateway",
    },
    faucet: { value: "URL", text: "where the page sends people for test tokens" },
  },
  details: ["Pages from this machine and browser extensions are always let in."],
};

/** Reads the command line of the wallet proxy; `unusable` says what was expected. */
export function readOptions(args: readonly string[]): ReadProgram<WalletProxyOptions> {
  return readProgram(program, args, ({ need, needText, read, text, texts }) => ({
    gatewayUrl: need("gateway", readOrigin),
    keyFile: needText("key-file"),
    port: need("port", portNumber({ min: 0 })),
    sites: texts("origin").map((site) => readValue("--origin", site, readOrigin)),
    caFile: text("ca"),
    explorerUrl: read("explorer", readPageUrl),
    faucetUrl: read("faucet", readPageUrl),
  }));
}

/** Scheme, host and port as browsers write them in Origin (RFC 6454 section 6.2). A user in it must not be repeated. */
function readOrigin(text: string): Read<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    `${url.origin}/` === url.href &&
    !text.includes("*");
  return isPlain
    ? { value: url.origin }
    : { wrong: "an address such as https://rpc.example was expected, without a path or a user" };
}

/** Where a page leads to. A password in it would stand in the page. */
function readPageUrl(text: string): Read<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === "";
  return isPlain
    ? { value: url.href }
    : { wrong: "an address such as https://explorer.example was expected, without a user" };
}
