import type { FastifyReply, FastifyRequest } from "fastify";
import { isRefusal, type Refusal } from "../../lib/http-service/refusal.ts";
import type { Charge } from "./charge.ts";

/** What the three scopes of a sold key open. */
export const keyScopes = ["dashboard:read", "invoices:read", "invoices:write"] as const;
export type KeyScope = (typeof keyScopes)[number];

/** Whose wallet a session is of (EIP-55), and which of its sessions it is. */
export type SessionCaller = { wallet: string; id: string; createdAt: Date; expiresAt: Date };
/** Which sold key asks, and whose it is. */
export type KeyCaller = { keyId: string; wallet: string; scopes: readonly KeyScope[] };

/** What a request came with, and the doors that it can go through. */
export type Entry = { request: FastifyRequest; reply: FastifyReply; cost: number; doors: Doors };

export type Doors = {
  /** The client's address as limits count it. */
  addressOf(request: FastifyRequest): string;
  /** Charges the client's address. */
  charge: Charge;
  /** The wallet whose session it is, by cookie or bearer token, with the rule against foreign pages (CSRF). */
  requireSession(request: FastifyRequest): Promise<SessionCaller | Refusal>;
  /** The sold key, charged by itself; a key that is none is charged to the client's address. */
  requireKey(entry: {
    request: FastifyRequest;
    reply: FastifyReply;
    cost: number;
    scope: KeyScope;
  }): Promise<KeyCaller | Refusal>;
};

/** Who may carry an operation out, how it is told in OpenAPI, and what the operation learns of its caller. */
export type Security<Caller extends object> = {
  /** By the names of OpenAPI's securitySchemes; each alone is enough. None: anybody. */
  schemes: readonly SchemeName[];
  /** What of a key it takes. */
  scope?: KeyScope;
  enter(entry: Entry): Promise<Caller | Refusal>;
};

export type SchemeName = keyof typeof securitySchemes;

export const securitySchemes = {
  svcDevKey: {
    ...{ type: "apiKey", in: "header", name: "X-Svc-Dev-Key" },
    description:
      "A key that was bought; the other two ways to send it are the same. Two different keys are refused",
  },
  bearer: { type: "http", scheme: "bearer", description: "A key that was bought" },
  apiKey: { type: "apiKey", in: "header", name: "X-Api-Key", description: "A key that was bought" },
  sessionToken: {
    ...{ type: "http", scheme: "bearer" },
    description: "The `token` of POST /api/v1/svc-dev/session, for scripts",
  },
  sessionCookie: {
    ...{ type: "apiKey", in: "cookie", name: "svc_session" },
    description:
      "What signing in sets in a browser; in production its name begins with `__Host-`. Unsafe methods then need this site's Origin and application/json",
  },
} as const;

/** Anybody, charged by address. */
export const noSecurity: Security<object> = { schemes: [], enter: chargeAddress };

/** Somebody who has signed in with a wallet. Who has not is charged as well, so that tokens are not guessed for nothing. */
export const walletSession: Security<SessionCaller> = {
  schemes: ["sessionCookie", "sessionToken"],
  async enter(entry) {
    const charged = await chargeAddress(entry);
    return isRefusal(charged) ? charged : entry.doors.requireSession(entry.request);
  },
};

/** A sold key that has the scope. */
export function apiKeyWith(scope: KeyScope): Security<KeyCaller> {
  return {
    schemes: ["svcDevKey", "bearer", "apiKey"],
    scope,
    enter: ({ request, reply, cost, doors }) => doors.requireKey({ request, reply, cost, scope }),
  };
}

async function chargeAddress({ request, reply, cost, doors }: Entry): Promise<object | Refusal> {
  const charged = await doors.charge({ request, reply, cost });
  return isRefusal(charged) ? charged : {};
}
