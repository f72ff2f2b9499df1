import { z } from "zod";
import { address, integer } from "../../records/values.ts";
import { publicId } from "../public-id.ts";
import { moment, timeOf } from "../times.ts";
import { type Endpoint, overlapHours } from "./endpoint.ts";

const maybeMoment = (description: string) => moment.nullable().meta({ description });
const maybeUnix = integer.nullable();

const members = {
  id: z.string(),
  wallet: address,
  url: z.string(),
  state: z.enum(["active", "failing", "disabled"]).meta({
    description: "failing: since the last success something was not delivered; disabled: nothing is sent",
  }),
  disabledWhy: z.enum(["gone", "failing"]).nullable().meta({
    description: "gone: it answered 410; failing: for five days, with two events that were given up",
  }),
  disabledAt: maybeMoment("When nothing was sent any more"),
  disabledAtUnix: maybeUnix,
  failingSince: maybeMoment("The first failure since the last success"),
  failingSinceUnix: maybeUnix,
  rotatingUntil: maybeMoment("Until then both secrets sign, and the new one alone from then on"),
  rotatingUntilUnix: maybeUnix,
  createdAt: moment,
  createdAtUnix: integer,
};

export const webhookRecord = z
  .strictObject(members)
  .meta({ id: "Webhook", description: "Where a wallet is told of its payments" });

export type WebhookRecord = z.output<typeof webhookRecord>;

export const webhookWithSecret = z
  .strictObject({
    ...members,
    secret: z.string().meta({ description: "Shown this once", examples: ["whsec_…"] }),
  })
  .meta({ id: "WebhookWithSecret", description: "A webhook and its new secret" });

export function webhookRecordOf(endpoint: Endpoint): WebhookRecord {
  const { disabledAt, disabledWhy, failingSince, nextSince, createdAt } = endpoint;
  const disabled = maybeTimeOf(disabledAt);
  const failing = maybeTimeOf(failingSince);
  const rotating = maybeTimeOf(
    nextSince === null ? null : new Date(nextSince.getTime() + overlapHours * 3_600_000),
  );
  const created = timeOf(createdAt);
  return {
    id: publicId("whk", endpoint.id),
    wallet: endpoint.wallet,
    url: endpoint.url,
    state: disabledAt !== null ? "disabled" : failingSince !== null ? "failing" : "active",
    disabledWhy: disabledWhy === "gone" || disabledWhy === "failing" ? disabledWhy : null,
    disabledAt: disabled.text,
    disabledAtUnix: disabled.unix,
    failingSince: failing.text,
    failingSinceUnix: failing.unix,
    rotatingUntil: rotating.text,
    rotatingUntilUnix: rotating.unix,
    createdAt: created.text,
    createdAtUnix: created.unix,
  };
}

export function maybeTimeOf(at: Date | null): { text: string | null; unix: number | null } {
  return at === null ? { text: null, unix: null } : timeOf(at);
}
