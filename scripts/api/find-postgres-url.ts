import { readFileSync } from "node:fs";
import { pino } from "pino";
import { readApiConfig } from "../../api/config.ts";
import { CommandError, type OptionTable, textOf, type Values } from "../../lib/cli/command.ts";
import { connectPostgres } from "../../lib/postgres/postgres-connection.ts";
import { reasonOf } from "../../lib/postgres/postgres-health.ts";

const file = "config/api.yaml";
/** Where `npm start` writes the address of the PostgreSQL that it runs on a free port. */
const devFile = ".data/postgres/url";

export const commonOptions: OptionTable = {
  postgres: {
    value: "URL",
    text: `the PostgreSQL (else that of --config, POSTGRES_URL, ${devFile} of npm start, the default)`,
  },
  config: { value: "FILE", text: `the API's configuration (else ${file})` },
  json: { text: "the answer as JSON on stdout" },
  help: { text: "this text" },
};

/**
 * Which PostgreSQL is meant: the first of those that the option `--postgres` names, once it has answered.
 * @throws CommandError where it does not; ConfigError where the configuration cannot be used.
 */
export async function findPostgresUrl({
  values,
  env,
  note,
}: {
  values: Values;
  env: Readonly<Record<string, string | undefined>>;
  note: (text: string) => void;
}): Promise<string> {
  const url = await meant({ values, env, note });
  const failed = await failureOf(url);
  if (failed === undefined) return url;
  const { protocol, host, pathname } = new URL(url);
  throw new CommandError(
    `PostgreSQL at ${protocol}//${host}${pathname} cannot be used (${failed}); name another with --postgres URL.`,
    { exitCode: 1 },
  );
}

async function meant({ values, env, note }: Parameters<typeof findPostgresUrl>[0]): Promise<string> {
  const option = textOf(values, "postgres");
  if (option !== undefined) return checked("--postgres", option);
  const configFile = textOf(values, "config");
  const config = readApiConfig({ file: configFile ?? file, env });
  const isChosen = configFile !== undefined || [env["POSTGRES_URL"], env["POSTGRES_URL_FILE"]].some(Boolean);
  // A production machine has no npm start; what lies in .data there must not decide what is changed.
  if (isChosen || config.profile !== "development") return config.postgres.url;
  const url = readDevUrl();
  // The file of a start that was killed stays behind.
  if (url === undefined || (await failureOf(url)) !== undefined) return config.postgres.url;
  note(`Using the PostgreSQL of npm start (${devFile}).`);
  return url;
}

function checked(name: string, text: string): string {
  if (isPostgresUrl(text)) return text;
  throw new CommandError(
    `${name}: an address such as postgres://user:password@127.0.0.1:5432/tollgate was expected.`,
    { exitCode: 2 },
  );
}

function readDevUrl(): string | undefined {
  try {
    const text = readFileSync(devFile, "utf8").trim();
    return isPostgresUrl(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function isPostgresUrl(text: string): boolean {
  return URL.canParse(text) && ["postgres:", "postgresql:"].includes(new URL(text).protocol);
}

async function failureOf(url: string): Promise<string | undefined> {
  try {
    const connection = await connectPostgres({ url, name: "npm run api", logger: pino({ level: "silent" }) });
    await connection.end();
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}
