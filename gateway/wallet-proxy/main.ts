import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createLogger } from "../../lib/logger.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import { abortOnStopSignal } from "../../lib/service/stop-signals.ts";
import { type KeyFile, KeyFileError, openKeyFile } from "./key-file.ts";
import { readOptions, type WalletProxyOptions } from "./options.ts";
import type { RpcProxy } from "./rpc-proxy.ts";
import { startWalletProxy } from "./start-wallet-proxy.ts";

const logger = createLogger({
  name: "wallet-proxy",
  level: "info",
  format: process.stdout.isTTY ? "pretty" : "json",
});
const read = readOptions(process.argv.slice(2));
if (read.kind === "help") process.stdout.write(read.text);
else if (read.kind === "unusable") refuse(read.text);
else await run(read.options);

async function run({ keyFile, caFile, ...options }: WalletProxyOptions): Promise<void> {
  const ca = caFile === undefined ? undefined : readCertificates(caFile);
  const key = readableKey(keyFile);
  let proxy: RpcProxy;
  try {
    proxy = await startWalletProxy({ ...options, ca }, { apiKey: key.apiKey, logger });
  } catch (error) {
    key.stop();
    logger.fatal(
      { err: error },
      `127.0.0.1:${options.port} cannot be listened on; --port PORT chooses another`,
    );
    process.exitCode = exitCodes.failed;
    return;
  }
  logger.info(
    { url: proxy.url, gateway: options.gatewayUrl },
    "wallet proxy is up: open its address in a browser",
  );
  await once(abortOnStopSignal(["SIGINT", "SIGTERM", "SIGHUP"]), "abort");
  key.stop();
  await proxy.stop();
}

function readableKey(file: string): KeyFile {
  try {
    return openKeyFile({ file, logger });
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error;
    return refuse(`${error.message}\n`);
  }
}

function readCertificates(file: string): string {
  try {
    const text = readFileSync(file, "utf8");
    return text.includes("-----BEGIN CERTIFICATE-----")
      ? text
      : refuse(`--ca: ${file} holds no certificate in PEM form\n`);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    return refuse(`--ca: ${file} cannot be read (${code})\n`);
  }
}

function refuse(text: string): never {
  process.stderr.write(text);
  process.exit(exitCodes.unusable);
}
