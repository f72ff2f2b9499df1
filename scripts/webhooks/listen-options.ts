import { type EventType, eventTypes } from "../../api/merchant/events/event-record.ts";
import { isWebhookSecret } from "../../api/merchant/webhooks/webhook-secret.ts";
import { CommandError, type OptionTable, textOf, type Values } from "../../lib/cli/command.ts";
import { type Read, readValue } from "../../lib/cli/read-program.ts";
import { namesOutOf, wholeNumber } from "../../lib/cli/values.ts";
import { checkApiKey } from "../../lib/keys/api-key.ts";
import { secretOfKey } from "./secret-of-key.ts";

export const keyVariable = "TOLLGATE_KEY";
export const secretVariable = "TOLLGATE_WEBHOOK_SECRET";
const apiDefault = "http://127.0.0.1:4000";

export const listenOptions: OptionTable = {
  key: {
    value: "KEY",
    text: `a key with invoices:read (better in ${keyVariable}: a command line is there for all to see)`,
  },
  to: { value: "URL", text: "where events are sent to, such as http://localhost:3000/hook" },
  print: { text: "shows each event's body" },
  api: { value: "URL", text: "the API", default: apiDefault },
  "from-sequence": { value: "N", text: "begins with this event (else with the next one that happens)" },
  events: { value: "TYPE,…", text: `only these: ${eventTypes.join(", ")}` },
};

export type ListenOptions = {
  key: string;
  /** Without a slash at its end. */
  api: string;
  /** Undefined: events are shown alone. */
  to: URL | undefined;
  showsBodies: boolean;
  /** The event that it begins with; undefined: the next one that happens. */
  first: number | undefined;
  types: readonly EventType[];
  /** What it signs with, and whether that is of its own making. */
  secret: string;
  isOwnSecret: boolean;
};

/** @throws CommandError that says what was expected. It never repeats a key or a secret. */
export function readListenOptions(
  values: Values,
  env: Readonly<Record<string, string | undefined>>,
): ListenOptions {
  const read = <Value>(name: string, reader: (text: string) => Read<Value>): Value | undefined => {
    const text = textOf(values, name);
    return text === undefined ? undefined : readValue(`--${name}`, text, reader);
  };
  const key = (textOf(values, "key") ?? env[keyVariable] ?? "").trim();
  if (key === "") throw unusable(`No key: set ${keyVariable}, or give --key KEY (/merchant sells them)`);
  if (checkApiKey(key, "svc") !== "valid")
    throw unusable("This is no key that was bought: svc_dev_ or svc_live_ and 49 characters. Copy it again");
  const to = read("to", httpUrl);
  const showsBodies = values["print"] === true;
  if (to === undefined && !showsBodies)
    throw unusable("Where to? --to URL sends events on, --print shows them");
  const given = env[secretVariable]?.trim();
  if (given !== undefined && given !== "" && !isWebhookSecret(given))
    throw unusable(`${secretVariable} is no webhook's secret: whsec_ and base64`);
  const isOwnSecret = given === undefined || given === "";
  return {
    ...{ key, to, showsBodies, isOwnSecret },
    api: (read("api", httpUrl) ?? new URL(apiDefault)).href.replace(/\/+$/, ""),
    first: read("from-sequence", wholeNumber(Number.MAX_SAFE_INTEGER)),
    types: read("events", namesOutOf(eventTypes)) ?? eventTypes,
    secret: isOwnSecret ? secretOfKey(key) : given,
  };
}

function httpUrl(text: string): Read<URL> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol)
    ? { value: url }
    : { expected: "a URL with http or https" };
}

function unusable(message: string): CommandError {
  return new CommandError(`${message}.\nSee: npm run webhooks -- listen --help`, { exitCode: 2 });
}
