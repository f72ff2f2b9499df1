import { readFileSync } from "node:fs";
import { z } from "zod";
import { CommandError } from "../../../lib/cli/command.ts";

const bytesMax = 50_000_000;

const summary = z.object({
  count: z.number(),
  p50: z.number(),
  p90: z.number(),
  p99: z.number(),
  p999: z.number(),
  max: z.number(),
  mean: z.number(),
});
const row = z.object({ label: z.string(), calls: z.number(), failed: z.number(), latencyMs: summary });
const stage = z.object({ fromPerSecond: z.number(), toPerSecond: z.number(), durationMs: z.number() });
const clientStage = z.object({ fromClients: z.number(), toClients: z.number(), durationMs: z.number() });

/** What a comparison needs of a report that `--json` has written. */
const reportSchema = z.object({
  format: z.literal("tollgate-load"),
  version: z.literal(2),
  startedAt: z.string(),
  durationMs: z.number(),
  endedBy: z.string().nullable(),
  settings: z.object({
    url: z.string(),
    mixFile: z.string(),
    stages: z.array(stage),
    clients: z.array(clientStage),
    arrivals: z.string(),
    connections: z.number(),
    timeoutMs: z.number(),
  }),
  rates: z.object({ callsPerSecond: z.number() }),
  calls: z.object({ total: z.number(), failed: z.number(), errorRate: z.number() }),
  latencyMs: summary,
  latencyCurve: z.array(z.object({ percentile: z.number(), latencyMs: z.number() })),
  methods: z.array(row).max(1_000),
  errors: z.array(z.object({ kind: z.string(), code: z.string(), calls: z.number() })),
  series: z.array(
    z.object({ fromMs: z.number(), toMs: z.number(), calls: z.number(), p50: z.number(), p99: z.number() }),
  ),
});

export type ComparedReport = z.output<typeof reportSchema>;

/** @throws CommandError that says what is wrong with the file. */
export function readReport(file: string): ComparedReport {
  const unusable = (why: string) => new CommandError(`${file} ${why}`, { exitCode: 2 });
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
    throw unusable(`cannot be read (${code}).`);
  }
  if (text.length > bytesMax)
    throw unusable(`has more than ${bytesMax} characters: no report of a load has that many.`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw unusable("is no JSON: a file that --json has written was expected.");
  }
  const read = reportSchema.safeParse(json);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw unusable(
    `is no report of this version of the load tool (${issue?.path.join(".") || "the whole"}: ${issue?.message ?? ""}): ` +
      "a file that --json has written was expected.",
  );
}
