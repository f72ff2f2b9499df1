import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { RpcClient } from "../../../lib/chain/rpc-client.ts";
import { isRefusal, type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import { isRedisFailure } from "../../../lib/redis/redis-failure.ts";
import type { SessionCaller } from "../../rest/security.ts";
import { checkSignature } from "./check-signature.ts";
import type { ClientLimit } from "./client-limits.ts";
import { refuseForeignPage, refuseForeignSignIn } from "./foreign-page.ts";
import { judgeMessage, type SignInSite, wrong } from "./judge-message.ts";
import type { Nonces } from "./nonces.ts";
import type { SessionCookie } from "./session-cookie.ts";
import { challenge, readCredentials, sessionEnded } from "./session-credentials.ts";
import type { SessionStore, WalletSession } from "./session-store.ts";
import { readSiweMessage } from "./siwe-message.ts";
import { userAgentOf } from "./user-agent.ts";

export type WalletSessions = ReturnType<typeof createWalletSessions>;

export const statement =
  "Sign in as a merchant of Tollgate. This proves that the wallet is yours: it costs nothing and sends no transaction.";

/** Sign-in with a wallet (EIP-4361), and who a request is from. Refusals are values; a PostgreSQL or chain that is away throws. */
export function createWalletSessions({
  site,
  cookie,
  nonces,
  settings,
  store,
  rpc,
  limits,
  now,
  logger,
}: {
  site: SignInSite;
  cookie: SessionCookie;
  nonces: Nonces;
  /** Read for each message. */
  settings: { readonly nonceSeconds: number };
  store: SessionStore;
  /** Bounded in time: whoever signs in decides what a contract wallet does. */
  rpc: Pick<RpcClient, "ask">;
  limits: { nonces: ClientLimit; signIns: ClientLimit };
  now: () => number;
  logger: Pick<Logger, "info">;
}) {
  /** Whose session it is, by bearer token or cookie. A cookie's request is refused where a page of others sent it. */
  async function requireSession(request: FastifyRequest): Promise<WalletSession | Refusal> {
    const credentials = readCredentials(request.headers, cookie);
    if (isRefusal(credentials)) return credentials;
    const foreign = credentials.by === "cookie" ? refuseForeignPage(request, site.origin) : undefined;
    return foreign ?? (await store.find(credentials.token)) ?? sessionEnded;
  }

  /** Why a message or its signature opens no session. The nonce is used up before the signature is looked at. */
  async function judge(text: string, signature: string): Promise<{ wallet: string } | Refusal> {
    const message = readSiweMessage(text);
    if (message === undefined) return unreadable;
    const { nonceSeconds } = settings;
    const unfit = judgeMessage(message, { site, nonceSeconds, nowMs: now() });
    if (unfit !== undefined) return unfit;
    const isFresh = await unlessRedisIsAway(() => nonces.take(message.nonce));
    if (typeof isFresh === "object") return isFresh;
    if (!isFresh) return usedNonce;
    const { address } = message;
    const verdict = await checkSignature({ address, message: text, signature, rpc });
    if (verdict === "not deployed") return notDeployed;
    return verdict === "valid" ? { wallet: address } : wrongSignature;
  }

  return {
    requireSession,

    /** The same for a path that names a wallet: another's is none of the caller's business. */
    async requireWallet(request: FastifyRequest, address: string): Promise<WalletSession | Refusal> {
      const session = await requireSession(request);
      if (isRefusal(session) || session.wallet.toLowerCase() === address.toLowerCase()) return session;
      return otherWallet;
    },

    /** What a message has to be made of. */
    async giveNonce(request: FastifyRequest) {
      const limited = await limits.nonces(request);
      if (limited !== undefined) return limited;
      const given = await unlessRedisIsAway(nonces.give);
      return isRefusal(given) ? given : { ...given, ...site, statement };
    },

    async signIn(request: FastifyRequest, { message, signature }: { message: string; signature: string }) {
      const refused = refuseForeignSignIn(request, site.origin) ?? (await limits.signIns(request));
      if (refused !== undefined) return refused;
      const judged = await judge(message, signature);
      if (isRefusal(judged)) return judged;
      const userAgent = userAgentOf(request.headers);
      const opened = await store.open({ wallet: judged.wallet, userAgent });
      logger.info({ wallet: judged.wallet, session: opened.session.id }, "a wallet signed in");
      return { ...opened, setCookie: cookie.give(opened.token) };
    },

    list: ({ wallet }: SessionCaller) => store.list(wallet),
    end: ({ wallet }: SessionCaller, id: string) => store.end({ wallet, id }),
    endOthers: ({ wallet, id }: SessionCaller) => store.endOthers({ wallet, id }),
    /** The value of `Set-Cookie` by which a browser forgets its session. */
    forgetCookie: cookie.takeBack,
  };
}

async function unlessRedisIsAway<Value>(ask: () => Promise<Value>): Promise<Value | Refusal> {
  try {
    return await ask();
  } catch (error) {
    if (isRedisFailure(error)) return away;
    throw error;
  }
}

const again = "ask for a new nonce and sign again";
const unreadable = wrong("it is not a text of EIP-4361, as a wallet shows it");
const usedNonce = refusal("sign_in_refused", `The nonce is unknown, used or too old: ${again}`, challenge);
const wrongSignature = refusal(
  "sign_in_refused",
  `The signature is not of the message's address: ${again}`,
  challenge,
);
const notDeployed = refusal(
  "sign_in_refused",
  "The signature is of a contract wallet that is not deployed (EIP-6492), which is not taken: deploy the wallet, which costs nothing here, and sign again",
  challenge,
);
const otherWallet = refusal("forbidden", "This belongs to another wallet than the session's");
const away = refusal(
  "service_unavailable",
  "Nobody can sign in at the moment; sessions that there are go on. Try again shortly",
  { retryAfterMs: 1000 },
);
