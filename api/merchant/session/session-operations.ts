import { z } from "zod";
import { isRefusal, refusal } from "../../../lib/http-service/refusal.ts";
import {
  endedSessionsRecord,
  type NonceRecord,
  nonceRecord,
  openedSessionRecord,
  type SessionListRecord,
  type SessionRecord,
  sessionListRecord,
  sessionRecord,
} from "../../records/session.ts";
import { noBody, type Operation, operation } from "../../rest/operation.ts";
import { noParameters } from "../../rest/parameters.ts";
import { noSecurity, type SessionCaller, walletSession } from "../../rest/security.ts";
import type { WalletSessions } from "./wallet-sessions.ts";

export type SessionServices = { sessions: WalletSessions };

/** A message has some 400 characters; a longer one costs the parser of EIP-4361 up to a tenth of a second. */
const messageCharsMax = 2000;
/** A contract wallet with thirty owners. */
const signatureBytesMax = 2048;
const signaturePattern = new RegExp(`^0x(?:[0-9a-fA-F]{2}){1,${signatureBytesMax}}$`);

const root = "/api/v1/svc-dev";

const signInBody = z.strictObject(
  {
    message: z
      .string("The text that was signed was expected")
      .max(messageCharsMax, `At most ${messageCharsMax} characters were expected`)
      .meta({ description: "The text that the wallet signed, by EIP-4361, byte for byte" }),
    signature: z
      .string("A signature was expected: 0x and hexadecimal digits")
      .regex(signaturePattern, "A signature was expected: 0x and hexadecimal digits")
      .meta({ description: "By personal_sign (EIP-191), or as a contract wallet takes it (EIP-1271)" }),
  },
  "An object with message and signature was expected",
);

/** `{}`: a body all the same, since its content type is what a form of another page cannot have. */
const noFields = z.strictObject({}, "An empty object was expected: {}");

const sessionPath = z.strictObject({
  id: z.uuid("A session's id was expected").meta({
    description: "Of `GET /api/v1/svc-dev/sessions`",
    examples: ["0b5cfa3e-4d9c-4f0e-9d3b-2f6f0a6f1c11"],
  }),
});

const none = { params: noParameters, query: noParameters };

/** The wallet session's part of the table of operations. */
export const sessionOperations: Operation<SessionServices>[] = [
  operation({
    ...{
      method: "POST",
      path: `${root}/session/nonce`,
      operationId: "createSessionNonce",
      tag: "Wallet session",
    },
    summary: "What a message to sign in with is made of",
    description: "At most 20 a minute by client address.",
    ...{ security: noSecurity, ...none, body: noFields },
    responses: { 200: nonceRecord },
    problems: ["service_unavailable"],
    async answer({ request, services: { sessions } }) {
      const given = await sessions.giveNonce(request);
      if (isRefusal(given)) return given;
      const { nonce, domain, origin, chainId, statement, issuedAtMs, expiresAtMs } = given;
      const issuedAt = new Date(issuedAtMs).toISOString();
      const expirationTime = new Date(expiresAtMs).toISOString();
      const record: NonceRecord = {
        nonce,
        domain,
        uri: origin,
        chainId,
        statement,
        issuedAt,
        expirationTime,
      };
      return { status: 200, record };
    },
  }),

  operation({
    ...{ method: "POST", path: `${root}/session`, operationId: "signIn", tag: "Wallet session" },
    summary: "Opens a session with a signed message",
    description:
      "The message is of EIP-4361, made of what POST /api/v1/svc-dev/session/nonce answered. Beside the token a browser gets a cookie; pages of other origins are refused. At most 20 tries a minute by client address.",
    ...{ security: noSecurity, ...none, body: signInBody },
    responses: { 201: openedSessionRecord },
    problems: ["sign_in_refused", "forbidden", "service_unavailable"],
    async answer({ request, body, services: { sessions } }) {
      const opened = await sessions.signIn(request, body);
      if (isRefusal(opened)) return opened;
      const record = { session: currentOf(opened.session), token: opened.token };
      return { status: 201, record, headers: { "Set-Cookie": opened.setCookie } };
    },
  }),

  operation({
    ...{ method: "GET", path: `${root}/session`, operationId: "getSession", tag: "Wallet session" },
    summary: "Whose session it is",
    ...{ security: walletSession, ...none, body: noBody },
    responses: { 200: sessionRecord },
    answer: ({ caller }) => ({ status: 200, record: { session: currentOf(caller) } }),
  }),

  operation({
    ...{ method: "DELETE", path: `${root}/session`, operationId: "endSession", tag: "Wallet session" },
    summary: "Ends the session that asks",
    ...{ security: walletSession, ...none, body: noBody },
    responses: { 204: undefined },
    problems: ["forbidden"],
    async answer({ caller, services: { sessions } }) {
      await sessions.end(caller, caller.id);
      return { status: 204, headers: { "Set-Cookie": sessions.forgetCookie() } };
    },
  }),

  operation({
    ...{ method: "GET", path: `${root}/sessions`, operationId: "listSessions", tag: "Wallet session" },
    summary: "A wallet's sessions, newest first",
    description: "At most 20: who signs in once more ends the oldest.",
    ...{ security: walletSession, ...none, body: noBody },
    responses: { 200: sessionListRecord },
    async answer({ caller, services: { sessions } }) {
      const list = await sessions.list(caller);
      const record: SessionListRecord = {
        data: list.map((session) => ({
          ...timesOf(session),
          userAgent: session.userAgent,
          current: session.id === caller.id,
        })),
      };
      return { status: 200, record };
    },
  }),

  operation({
    ...{ method: "DELETE", path: `${root}/sessions`, operationId: "endOtherSessions", tag: "Wallet session" },
    summary: "Ends all of a wallet's sessions but the one that asks",
    ...{ security: walletSession, ...none, body: noBody },
    responses: { 200: endedSessionsRecord },
    problems: ["forbidden"],
    async answer({ caller, services: { sessions } }) {
      return { status: 200, record: { ended: await sessions.endOthers(caller) } };
    },
  }),

  operation({
    ...{
      method: "DELETE",
      path: `${root}/sessions/{id}`,
      operationId: "endSessionById",
      tag: "Wallet session",
    },
    summary: "Ends one of a wallet's sessions",
    ...{ security: walletSession, params: sessionPath, query: noParameters, body: noBody },
    responses: { 204: undefined },
    problems: ["forbidden", "not_found"],
    async answer({ caller, params: { id }, services: { sessions } }) {
      const outcome = await sessions.end(caller, id);
      if (outcome !== "ended") return outcome === "none" ? noSuchSession : othersSession;
      return id === caller.id
        ? { status: 204, headers: { "Set-Cookie": sessions.forgetCookie() } }
        : { status: 204 };
    },
  }),
];

const othersSession = refusal("forbidden", "This session belongs to another wallet than the one that asks");
const noSuchSession = refusal("not_found", "The wallet has no such session, or it has ended");

function timesOf({ id, createdAt, expiresAt }: SessionCaller) {
  return {
    id,
    createdAt: createdAt.toISOString(),
    createdAtUnix: Math.floor(createdAt.getTime() / 1000),
    expiresAt: expiresAt.toISOString(),
    expiresAtUnix: Math.floor(expiresAt.getTime() / 1000),
  };
}

function currentOf(session: SessionCaller): SessionRecord["session"] {
  return { address: session.wallet, ...timesOf(session) };
}
