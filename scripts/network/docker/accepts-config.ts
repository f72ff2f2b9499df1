import { z } from "zod";
import type { Compose } from "./compose.ts";

const answerSchema = z.object({ status: z.number(), fees: z.string().optional() });

/** Asks a process whether it would take its files as they are now, and the api for the file of fees that it was started with. */
function askScript(port: number): string {
  return (
    `const { readFileSync } = await import("node:fs");` +
    `const { status } = await fetch("http://127.0.0.1:${port}/reload?dry-run", { method: "POST", signal: AbortSignal.timeout(10_000) });` +
    `const { API_FEES_FILE: file } = process.env;` +
    `console.log(JSON.stringify({ status, ...(file ? { fees: readFileSync(file, "utf8") } : {}) }));`
  );
}

/**
 * Whether all of these processes take config/ as it is: each reads and checks it, and changes nothing. A mount of one file, as that of fees,
 * does not follow a file that was put into its place, so `replaced` has what the api reads.
 */
export async function acceptsConfig(
  compose: Compose,
  ports: Readonly<Record<string, number>>,
): Promise<{ replaced: Readonly<Record<string, string>> } | undefined> {
  const { fees } = (await compose.project()).configs;
  const answers = await Promise.all(
    Object.entries(ports).map(([service, port]) => compose.evaluate(service, askScript(port))),
  );
  const replaced: Record<string, string> = {};
  for (const text of answers) {
    const answer = readAnswer(text);
    if (answer?.status !== 200) return undefined;
    if (answer.fees !== undefined && fees?.file === compose.feesFile) replaced["fees.yaml"] = answer.fees;
  }
  return { replaced };
}

function readAnswer(text: string | undefined) {
  try {
    return answerSchema.parse(JSON.parse(text ?? ""));
  } catch {
    return undefined;
  }
}
