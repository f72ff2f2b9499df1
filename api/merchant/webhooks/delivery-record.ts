import { z } from "zod";
import { type Row, readInteger, readNullable, readText, readTime } from "../../../lib/postgres/row.ts";
import { integer } from "../../records/values.ts";
import { eventTypes } from "../events/event-record.ts";
import { publicId } from "../public-id.ts";
import { moment, timeOf } from "../times.ts";
import { maybeTimeOf } from "./webhook-record.ts";

export const deliveryStates = ["waiting", "delivered", "dead", "dropped"] as const;
const state = z.enum(deliveryStates).meta({
  description:
    "waiting: it is tried again; dead: given up; dropped: the webhook was disabled when it was due",
});

const members = {
  eventId: z.string().meta({ description: "`webhook-id`, the same each time" }),
  type: z.enum(eventTypes),
  sequence: integer,
  state,
  attempts: integer,
  lastStatus: integer.nullable(),
  lastError: z.string().nullable(),
  nextAttemptAt: moment.nullable(),
  nextAttemptAtUnix: integer.nullable(),
  deliveredAt: moment.nullable(),
  deliveredAtUnix: integer.nullable(),
  createdAt: moment,
  createdAtUnix: integer,
};

export const deliveryRecord = z
  .strictObject(members)
  .meta({ id: "WebhookDelivery", description: "What became of an event" });

export type DeliveryRecord = z.output<typeof deliveryRecord>;

export const attemptRecord = z
  .strictObject({
    number: integer,
    at: moment,
    atUnix: integer,
    tookMs: integer,
    status: integer.nullable().meta({ description: "null: nothing was answered" }),
    error: z.string().nullable(),
    answerStart: z.string().meta({ description: "At most 1024 bytes of what was answered" }),
    request: z
      .strictObject({ url: z.string(), headers: z.record(z.string(), z.string()) })
      .nullable()
      .meta({ description: "What it was sent to and with; null where it was not kept" }),
  })
  .meta({ id: "WebhookAttempt" });

export const deliveryDetails = z
  .strictObject({
    ...members,
    body: z.string().meta({ description: "The very text that is signed and sent" }),
    log: z.array(attemptRecord).meta({ description: "Newest first, at most 50" }),
  })
  .meta({ id: "WebhookDeliveryDetails" });

/** The columns that `readDelivery` reads, of `svc.webhook_events v` and `svc.webhook_deliveries d`. */
export const deliveryColumns = `v.id, v.type, v.sequence, v.created_at, d.state, d.attempts, d.last_status, d.last_error,
  case when d.state = 'waiting' then d.next_at end as next_at, d.delivered_at`;

const eventType = members.type;

export function readDelivery(row: Row): DeliveryRecord {
  const next = maybeTimeOf(readNullable(readTime, row, "next_at"));
  const delivered = maybeTimeOf(readNullable(readTime, row, "delivered_at"));
  const created = timeOf(readTime(row, "created_at"));
  return {
    eventId: publicId("evt", readText(row, "id")),
    type: eventType.parse(row["type"]),
    sequence: readInteger(row, "sequence"),
    state: state.parse(row["state"]),
    attempts: readInteger(row, "attempts"),
    lastStatus: readNullable(readInteger, row, "last_status"),
    lastError: readNullable(readText, row, "last_error"),
    nextAttemptAt: next.text,
    nextAttemptAtUnix: next.unix,
    deliveredAt: delivered.text,
    deliveredAtUnix: delivered.unix,
    createdAt: created.text,
    createdAtUnix: created.unix,
  };
}

export function readAttempt(row: Row): z.output<typeof attemptRecord> {
  const at = timeOf(readTime(row, "at"));
  return {
    number: readInteger(row, "number"),
    at: at.text,
    atUnix: at.unix,
    tookMs: readInteger(row, "took_ms"),
    status: readNullable(readInteger, row, "status"),
    error: readNullable(readText, row, "error"),
    answerStart: readText(row, "answer_start"),
    request: readRequest(row),
  };
}

const sentHeaders = z.record(z.string(), z.string());

function readRequest(row: Row): z.output<typeof attemptRecord>["request"] {
  const url = readNullable(readText, row, "url");
  return url === null ? null : { url, headers: sentHeaders.parse(row["headers"]) };
}
