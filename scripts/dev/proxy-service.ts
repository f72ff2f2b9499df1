import type { Logger } from "pino";
import { prettyFactory } from "pino-pretty";
import type { RpcProxy } from "../../gateway/wallet-proxy/rpc-proxy.ts";
import { createLogger } from "../../lib/logger.ts";
import type { Service, ServiceContext } from "./service.ts";

/**
 * A loopback proxy inside npm start itself: it is small, and its own process would cost more memory than its traffic
 * does.
 */
export function proxyService({
  name,
  logName,
  port,
  portOption,
  note,
  start,
}: {
  name: string;
  /** Stands before its log lines. */
  logName: string;
  /** 0 takes a free port. */
  port: number;
  /** The option of npm start that sets the port. */
  portOption?: string;
  /** Its note in the printed table. */
  note: string;
  start(dependencies: { addresses: ServiceContext["addresses"]; logger: Logger }): Promise<RpcProxy>;
}): Service {
  const changeWith = `another: npm start -- ${portOption} PORT`;
  return {
    name,
    ports: port === 0 ? [] : [{ host: "127.0.0.1", port, owner: `the ${name}`, changeWith }],
    async start({ addresses, childLine, onStop }) {
      const logger = lineLogger({ name, onLine: (line) => childLine(logName, line) });
      try {
        const proxy = await start({ addresses, logger });
        onStop(() => proxy.stop());
        return { rows: [{ name, address: proxy.url, data: note }] };
      } catch (error) {
        return { failed: `the ${name} did not start: ${error instanceof Error ? error.message : error}` };
      }
    },
  };
}

function lineLogger({ name, onLine }: { name: string; onLine: (line: string) => void }): Logger {
  const pretty = prettyFactory({
    ignore: "pid,hostname,name",
    translateTime: "SYS:HH:MM:ss",
    singleLine: true,
  });
  const write = (line: string) => onLine(pretty(line)?.trimEnd() ?? line);
  return createLogger({ name, level: "info", format: "json", destination: { write } });
}
