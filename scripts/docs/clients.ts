import { readFileSync } from "node:fs";
import { z } from "zod";
import {
  type Behaviour,
  behaviours,
  type ClientName,
  clients,
  situations,
} from "../../test/clients/behaviours.ts";
import { webSocketBehaviours } from "../../test/clients/web-socket-behaviours.ts";
import { markdownTable } from "./markdown-table.ts";

/** What each client does with each refusal. */
export function clientsTable(): string {
  return markdownTable(
    [
      "Client",
      "Over",
      "What happens",
      "The gateway's answers",
      "Waits",
      "What the user gets",
      "Our words are in",
    ],
    behaviours.map((row) => [
      titleOf(row.client),
      row.transport,
      situations[row.situation],
      row.answers,
      row.waitsSeconds === 0 ? "" : `${row.waitsSeconds} s`,
      outcomeOf(row),
      row.ends === "success" ? "" : `\`${row.ends.messageAt}\``,
    ]),
  );
}

/** What each client does over a WebSocket. */
export function webSocketClientsTable(): string {
  return markdownTable(
    ["Client", "Heads", "Logs", "After a restart of the gateway it", "What tells of it"],
    webSocketBehaviours.map(({ client, heads, logs, afterRestart, tells }) => [
      titleOf(client),
      `\`${heads}\``,
      `\`${logs}\``,
      afterRestart,
      tells,
    ]),
  );
}

/** The code of an example, which the tests run as it stands. */
export function clientExample(file: string): string {
  const language = { ts: "ts", sh: "sh", py: "python" }[file.split(".")[1] ?? ""] ?? "";
  const code = readFileSync(new URL(`../../test/clients/examples/${file}`, import.meta.url), "utf8");
  return `\`\`\`${language}\n${code}\`\`\``;
}

function outcomeOf({ ends, goesOn }: Behaviour): string {
  if (ends === "success") return "the answer, when the window has ended";
  const afterwards = goesOn ? "; it goes on asking, about once a second" : "";
  return `${ends.error}: \`${ends.says}\`${afterwards}`;
}

function titleOf(client: ClientName): string {
  const [name, ...more] = client.split(", ");
  return [`${name} ${versionOf(client)}`, ...more].join(", ");
}

const manifestSchema = z.object({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});

/** @throws Error where nothing pins it. */
function versionOf(client: ClientName): string {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
  const source = clients[client];
  if ("python" in source) {
    const pinned = new RegExp(`^${source.python}==(\\S+)`, "m").exec(read("test/clients/requirements.txt"));
    if (pinned?.[1] !== undefined) return pinned[1];
  } else {
    const { dependencies, devDependencies } = manifestSchema.parse(JSON.parse(read("package.json")));
    const pinned = dependencies[source.npm] ?? devDependencies[source.npm];
    if (pinned !== undefined) return pinned;
  }
  throw new Error(`nothing pins the version of ${client}`);
}
