import { z } from "zod";
import { integer } from "../../records/values.ts";
import { noBody, type Operation, operation } from "../../rest/operation.ts";
import { limit, noParameters } from "../../rest/parameters.ts";
import { apiKeyWith } from "../../rest/security.ts";
import type { Events } from "./create-events.ts";
import { eventRecord } from "./event-record.ts";
import type { EventPosition } from "./read-events.ts";

export type EventServices = { events: Events };

const afterExpected = "An event's sequence was expected, or latest";
const position = z
  .string(afterExpected)
  .regex(/^(?:latest|0|[1-9][0-9]{0,14})$/, afterExpected)
  .optional()
  .transform((text): EventPosition | undefined =>
    text === undefined || text === "latest" ? text : Number(text),
  );

const lastExpected = "The id of an event was expected";

export const eventOperations: Operation<EventServices>[] = [
  operation({
    ...{ method: "GET", path: "/api/v1/svc-dev/v1/events", operationId: "listEvents", tag: "Developer API" },
    summary: "The wallet's events, oldest first, or a stream of them",
    description:
      "What webhooks are told, whether the wallet has one or not. Events are kept for 30 days; `removedUpTo` tells of older ones that were asked for. With `Accept: text/event-stream` they come as they happen, to a few streams of a wallet at once, which end when the key does.",
    security: apiKeyWith("invoices:read"),
    params: noParameters,
    query: z.strictObject({
      after: position.meta({
        description:
          "The `sequence` after which they begin: 0 for the oldest, `latest` for none that was before",
        ...{ type: "string", pattern: "^(?:latest|0|[1-9][0-9]{0,14})$" },
      }),
      limit,
    }),
    headers: {
      "Last-Event-ID": z
        .string(lastExpected)
        .regex(/^(?:0|[1-9][0-9]{0,14})$/, lastExpected)
        .optional()
        .meta({ description: "What a stream saw last: goes before `after`" }),
    },
    body: noBody,
    responses: {
      200: z
        .strictObject({
          data: z.array(eventRecord),
          nextAfter: integer.meta({ description: "Give it as `after` for what comes next" }),
          hasMore: z.boolean().meta({ description: "Whether there is more already" }),
          latest: integer.meta({ description: "The wallet's last event; 0: it has none" }),
          removedUpTo: integer
            .nullable()
            .meta({ description: "Events up to this one were asked for and are not kept any more" }),
        })
        .meta({ id: "EventList" }),
    },
    eventStream:
      "`id` is an event's `sequence`, `event` its type, `data` the body that webhooks are sent, byte for byte. First, and where events are missing, comes `begin` with `after`, `latest` and `removedUpTo`",
    problems: ["service_unavailable"],
    async answer({ query, headers, caller, listener, services: { events } }) {
      const lastId = headers["Last-Event-ID"];
      const after = lastId === undefined ? (query.after ?? 0) : Number(lastId);
      if (listener !== undefined) {
        return { status: 200, stream: events.open(caller, { after, address: listener.address }) };
      }
      return { status: 200, record: await events.list(caller.wallet, { after, limit: query.limit }) };
    },
  }),
];
