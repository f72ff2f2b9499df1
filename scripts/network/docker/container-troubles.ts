import { z } from "zod";
import type { Compose } from "./compose.ts";

const lastLinesMax = 15;
/** On a disk with less than this Besu cannot write, whatever the share is. */
const freeBytesMin = 64 * 1024 * 1024;

/** `docker compose ps --format json`, a line a container. */
const containerSchema = z.object({
  ID: z.string(),
  Service: z.string(),
  State: z.string(),
  Health: z.string().default(""),
  ExitCode: z.number().default(0),
});
/** In order, or by SIGTERM. */
const endedInOrder = [0, 143];
const inspectedSchema = z.object({
  RestartCount: z.number(),
  State: z.object({
    Health: z
      .object({ Log: z.array(z.object({ Output: z.string() })).nullable() })
      .nullish()
      .catch(undefined),
  }),
});
const volumeSchema = z.object({ Name: z.string(), Mountpoint: z.string() });

/** The chapter of docker/RUNBOOK.md that is about a service, as a sentence. */
export function whatToDo(service: string): string {
  return `What to do: docker/RUNBOOK.md, chapter "${chapterOf(service)}".`;
}

function chapterOf(service: string): string {
  if (service.startsWith("redis")) return "Redis";
  if (service === "gateway") return "Gateway";
  if (service === "faucet") return "Faucet";
  if (service === "api" || service === "api-key") return "API";
  if (service === "postgres") return "PostgreSQL";
  if (service === "trace-node") return "Traces";
  return service.startsWith("validator-") ? "One down" : "Bring up";
}

/** Why containers did not start, in their own words, with the runbook's chapter; empty where nothing shows. */
export async function tellTroubles(compose: Compose, services: readonly string[]): Promise<string> {
  const lines = (await compose.run(["ps", "--all", "--format", "json"])).out;
  const containers = lines.map((line) => containerSchema.parse(JSON.parse(line)));
  const troubled = containers.filter(
    ({ Service, State, Health }) =>
      services.includes(Service) && (State !== "running" || (Health !== "healthy" && Health !== "")),
  );
  const texts = await Promise.all(
    troubled.map(async ({ ID, Service, State, Health }) => {
      const said = await healthSaid(compose, ID);
      const options = ["--no-color", "--no-log-prefix", "--tail", String(lastLinesMax)];
      const words: string[] = [];
      await compose.run(["logs", ...options, Service], { onLine: (line) => words.push(`  ${line}`) });
      return [
        `${Service} is ${State === "running" ? Health : State}${said === "" ? "" : `; its health check says: ${said}`}`,
        ...(words.length === 0 ? [] : [`The last lines of ${Service}:`, ...words]),
        whatToDo(Service),
      ].join("\n");
    }),
  );
  return texts.join("\n");
}

async function healthSaid(compose: Compose, id: string): Promise<string> {
  const inspected = await inspect(compose, id);
  return inspected?.State.Health?.Log?.at(-1)?.Output.trim() ?? "";
}

async function inspect(compose: Compose, id: string) {
  const { ok, out } = await compose.docker(["inspect", id]);
  if (!ok) return undefined;
  return z.array(inspectedSchema).safeParse(JSON.parse(out.join("\n"))).data?.[0];
}

/** Why a validator's container is down: its disk is full, or it ends at each start. */
export async function troubleOf(compose: Compose, service: string): Promise<string | undefined> {
  const lines = (await compose.run(["ps", "--all", "--format", "json", service])).out;
  const [container] = lines.map((line) => containerSchema.parse(JSON.parse(line)));
  if (container === undefined) return undefined;
  // Somebody stopped it, so nothing is wrong.
  if (container.State === "exited" && endedInOrder.includes(container.ExitCode)) return undefined;
  const full = await fullDisk(compose, service);
  const restarts = (await inspect(compose, container.ID))?.RestartCount ?? 0;
  const again = container.State === "restarting" ? `starts again and again (${restarts} times)` : undefined;
  if (full === undefined) return again;
  return `${again ?? "does not run as it should"}: ${full} (docker/RUNBOOK.md, chapter "Disk")`;
}

/**
 * Looks at the volume from inside a container, since only root may read docker's own folder. On a full disk docker
 * cannot even make a container, and its message says so.
 */
async function fullDisk(compose: Compose, service: string): Promise<string | undefined> {
  const { volumes } = await compose.project();
  const name = volumes[service]?.name;
  if (name === undefined) return undefined;
  const run = ["run", "--rm", "--no-deps", "-T", "--entrypoint", "df", "volumes", "-P", "-B1"];
  const looked = await compose.run([...run, `/volumes/${service}`]);
  if (!looked.ok && /no space left on device/i.test(looked.why))
    return "docker's disk is full, it can make no container";
  const [, sizeText, , freeText] = /^\S+\s+(\d+)\s+(\d+)\s+(\d+)\s/.exec(looked.out.at(-1) ?? "") ?? [];
  const [size, free] = [Number(sizeText), Number(freeText)];
  if (!(free < freeBytesMin)) return undefined;
  const { out: told } = await compose.docker(["volume", "inspect", name]);
  const at = z.array(volumeSchema).safeParse(JSON.parse(told.join("\n"))).data?.[0]?.Mountpoint ?? name;
  return `its disk is full, ${megabytes(free)} of ${megabytes(size)} MB are free at ${at}`;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
