import { rm, writeFile } from "node:fs/promises";
import { findPostgres } from "../processes/find-postgres.ts";
import { askPostgres, startPostgres } from "../processes/start-postgres.ts";
import type { Service, ServiceContext, StartedService } from "./service.ts";

/** The last checkpoint waits for the disk. Killed before its end, PostgreSQL needs longer for its next start. */
const endWithinMs = 30_000;
const majorMin = 15;

/** A private PostgreSQL on a free port with its data in `.data`, or the database that `POSTGRES_URL` names. */
export function postgresService({ givenUrl }: { givenUrl: string | undefined }): Service {
  return {
    name: "postgres",
    ports: [],
    start: (context) => (givenUrl === undefined ? startOwn(context) : useGiven({ url: givenUrl, context })),
  };
}

async function useGiven({
  url,
  context,
}: {
  url: string;
  context: ServiceContext;
}): Promise<StartedService | { failed: string }> {
  const shown = withoutLogin(url);
  if (shown === undefined) {
    return { failed: "POSTGRES_URL: postgres://user:password@host:5432/database was expected" };
  }
  const answer = await askPostgres(url);
  if ("failed" in answer)
    return { failed: `POSTGRES_URL names ${shown}, which cannot be used: ${answer.failed}` };
  if (Number.parseInt(answer.version, 10) < majorMin) {
    return {
      failed: `POSTGRES_URL names ${shown}: ${majorMin} or newer was expected, not ${answer.version}`,
    };
  }
  context.say(`POSTGRES_URL is set: ${shown} is used, and no PostgreSQL is started.`);
  context.addresses.postgres = url;
  return { rows: [{ name: "postgres", address: shown, data: "its own (POSTGRES_URL)" }] };
}

async function startOwn({
  env,
  data,
  addresses,
  childLine,
  adopt,
  onStop,
}: ServiceContext): Promise<StartedService | { failed: string }> {
  const { folder, urlFile } = data.postgres;
  const programs = await findPostgres();
  if ("missing" in programs) return { failed: programs.missing };
  const postgres = await startPostgres({
    programs,
    env,
    folder,
    onLine: (line) => {
      if (tells(line)) childLine("postgres", line);
    },
    onChild: (child) => adopt(child, { endWithinMs }),
  });
  if ("failed" in postgres) return { failed: `${postgres.failed}\n${whatElse}` };
  // The table does not show the password: psql and command lines beside a running npm start read it here.
  await writeFile(urlFile, `${postgres.url}\n`, { mode: 0o600 });
  onStop(() => rm(urlFile, { force: true }));
  addresses.postgres = postgres.url;
  return {
    rows: [{ name: "postgres", address: `postgres://127.0.0.1:${postgres.port}`, data: folder }],
    child: postgres.child,
  };
}

const whatElse =
  "Data that another version has left goes with npm start -- --reset. A PostgreSQL of yours is used where\n" +
  "POSTGRES_URL=postgres://user:password@127.0.0.1:5432/tollgate is set.";

/** PostgreSQL logs clients that connect too early or while it stops, and what a killed one left. */
function tells(line: string): boolean {
  return !/the database system is (starting|shutting)|terminating connection due to admin|postmaster/.test(
    line,
  );
}

/** Undefined where the text is not a URL. */
function withoutLogin(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, host, pathname } = new URL(url);
  return /^postgres(ql)?:$/.test(protocol) ? `${protocol}//${host}${pathname}` : undefined;
}
