import type { CommandInput, WebhooksCommand } from "./command.ts";
import { type FollowedEvent, followEvents } from "./follow-events.ts";
import { type Forwarded, forwardEvent } from "./forward-event.ts";
import { keyVariable, listenOptions, readListenOptions, secretVariable } from "./listen-options.ts";
import { plainJson } from "./plain-text.ts";

export const listenCommand: WebhooksCommand = {
  name: "listen",
  positionals: [],
  summary:
    "Sends a wallet's events on to your machine as they happen, as webhooks are sent: no URL has to be saved.",
  details: [
    "Each event is a POST with the bytes and header fields that a webhook has. It is signed with a secret of this key's own, which is",
    `shown at the start and stays the same; ${secretVariable} has another one: that of the wallet's webhook, to check what you deploy.`,
    `${keyVariable} has the key. Where nothing answers, an event is tried four times; an answer that is no success is shown and not repeated.`,
  ],
  options: listenOptions,
  examples: [
    "listen --to http://localhost:3000/hook",
    "listen --print --from-sequence 1 --events invoice.paid",
  ],
  run,
};

async function run({ values, env, print, note, stopping }: CommandInput): Promise<void> {
  const options = readListenOptions(values, env);
  const { api, key, first, to, types, showsBodies, secret, isOwnSecret } = options;
  if (to !== undefined) {
    note(`Events of ${api} go to ${to.href}`);
    note(
      isOwnSecret ? `They are signed with ${secret}` : `They are signed with the secret of ${secretVariable}`,
    );
  }
  const counts = { events: 0, taken: 0 };
  for await (const event of followEvents({ api, key, first, note, stopping })) {
    if (!types.some((type) => type === event.type)) continue;
    counts.events += 1;
    const forwarded =
      to === undefined ? undefined : await forwardEvent({ to, event, secret, note, stopping });
    if (isTaken(forwarded)) counts.taken += 1;
    print(lineOf(event, forwarded));
    if (showsBodies) print(plainJson(event.body));
  }
  const ofThem = to === undefined ? "" : `, of which ${counts.taken} were answered with success`;
  note(`${counts.events} ${counts.events === 1 ? "event" : "events"}${ofThem}.`);
}

function lineOf({ type, id, sequence }: FollowedEvent, forwarded: Forwarded | undefined): string {
  const time = new Date().toISOString().slice(11, 19);
  const event = `${time}  ${String(sequence).padStart(5)}  ${type.padEnd(17)}  ${id}`;
  if (forwarded === undefined) return event;
  if ("failure" in forwarded) return `${event}  not delivered: ${forwarded.failure}`;
  return `${event}  ${forwarded.status} in ${forwarded.tookMs} ms`;
}

function isTaken(forwarded: Forwarded | undefined): boolean {
  return (
    forwarded !== undefined && "status" in forwarded && forwarded.status >= 200 && forwarded.status < 300
  );
}
