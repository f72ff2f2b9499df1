import { type DestinationStream, type Logger, pino, stdSerializers } from "pino";
import { PinoPretty } from "pino-pretty";

/** Values under these names never reach a log, wherever in the object they stand up to two levels deep. */
const secretNames = [
  "apiKey",
  "secret",
  "authorization",
  "cookie",
  '["set-cookie"]',
  '["x-api-key"]',
  '["x-svc-dev-key"]',
  "password",
  "privateKey",
];

/**
 * A process's logger: objects with stable names, secrets redacted. `json` is one object a line; `pretty` is for people
 * at a terminal.
 */
export function createLogger({
  name,
  level,
  format,
  destination,
}: {
  name: string;
  level: string;
  format: "json" | "pretty";
  destination?: DestinationStream;
}): Logger {
  const paths = secretNames.flatMap((secret) =>
    secret.startsWith("[")
      ? [secret, `*${secret}`, `*.*${secret}`]
      : [secret, `*.${secret}`, `*.*.${secret}`],
  );
  const options = {
    name,
    level,
    redact: { paths, censor: "[redacted]" },
    serializers: { err: stdSerializers.errWithCause },
  };
  if (format === "json") return destination === undefined ? pino(options) : pino(options, destination);
  const pretty = PinoPretty({
    ignore: "pid,hostname,name",
    translateTime: "SYS:HH:MM:ss",
    singleLine: true,
    sync: true,
  });
  return pino(options, destination ?? pretty);
}
