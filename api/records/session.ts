import { z } from "zod";
import { address, integer } from "./values.ts";

const time = (description: string) =>
  z.iso.datetime().meta({ description, examples: ["2026-11-23T12:00:00.000Z"] });
const unix = integer.meta({ description: "The same in seconds since 1970-01-01 00:00 UTC" });

export const nonceRecord = z
  .strictObject({
    nonce: z
      .string()
      .regex(/^[0-9A-Za-z]{24}$/)
      .meta({ description: "For one try to sign in" }),
    domain: z.string().meta({ description: "For the message's first line", examples: ["127.0.0.1:4000"] }),
    uri: z.string().meta({ description: "For the message's `URI`", examples: ["http://127.0.0.1:4000"] }),
    chainId: integer,
    statement: z
      .string()
      .meta({ description: "What the wallet tells its owner; another one is taken as well" }),
    issuedAt: time("For the message's `Issued At`"),
    expirationTime: time("For the message's `Expiration Time`; after it the nonce is taken no more"),
  })
  .meta({ id: "SessionNonce" });
export type NonceRecord = z.output<typeof nonceRecord>;

const own = {
  id: z.uuid().meta({ description: "By which it can be ended. It opens nothing" }),
  createdAt: time("When it was opened"),
  createdAtUnix: unix,
  expiresAt: time("When it ends by itself"),
  expiresAtUnix: unix,
};

/** The session that a request came with. */
export const sessionRecord = z
  .strictObject({ session: z.strictObject({ address, ...own }).meta({ id: "Session" }) })
  .meta({ id: "CurrentSession" });
export type SessionRecord = z.output<typeof sessionRecord>;

export const openedSessionRecord = z
  .strictObject({
    ...sessionRecord.shape,
    token: z.string().meta({
      description:
        "Send it as `Authorization: Bearer`. Browsers have it in a cookie already, which no script reads. It is shown this once",
    }),
  })
  .meta({ id: "OpenedSession" });

export const sessionListRecord = z
  .strictObject({
    data: z.array(
      z
        .strictObject({
          ...own,
          userAgent: z
            .string()
            .meta({ description: "What the browser or program called itself; may be empty" }),
          current: z.boolean().meta({ description: "Whether it is the one that asks" }),
        })
        .meta({ id: "ListedSession" }),
    ),
  })
  .meta({ id: "SessionList" });
export type SessionListRecord = z.output<typeof sessionListRecord>;

export const endedSessionsRecord = z
  .strictObject({ ended: integer.meta({ description: "How many sessions have ended" }) })
  .meta({ id: "EndedSessions" });
