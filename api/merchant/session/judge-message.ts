import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { SiweMessage } from "./siwe-message.ts";

/** Where people sign in: what a message has to name. */
export type SignInSite = {
  /** `https://merchants.example`, as browsers write it. */
  origin: string;
  /** Host and port, as a message's first line has it. */
  domain: string;
  chainId: number;
};

export function signInSite({ publicUrl, chainId }: { publicUrl: string; chainId: number }): SignInSite {
  const { origin, host } = new URL(publicUrl);
  return { origin, domain: host, chainId };
}

/** How far a client's clock may be ahead of ours. */
const clockSkewMs = 60_000;

/**
 * Why a message that can be read is none for us to take; undefined where it is one. Texts are compared as they stand: a domain
 * such as `localhost:4000@evil.example` is good grammar, and a URL that has to be understood first can be misunderstood.
 */
export function judgeMessage(
  message: SiweMessage,
  { site, nonceSeconds, nowMs }: { site: SignInSite; nonceSeconds: number; nowMs: number },
): Refusal | undefined {
  const { scheme, domain, uri, version, chainId, issuedAtMs, expirationMs, notBeforeMs } = message;
  const { origin } = site;
  if (domain !== site.domain) return wrong(`it names the domain ${shown(domain)}, not ${site.domain}`);
  if (scheme !== undefined && `${scheme}://${domain}` !== origin)
    return wrong(`it begins with ${scheme}://, not ${origin}`);
  if (uri !== origin && !uri.startsWith(`${origin}/`)) return wrong(`its URI is not of ${origin}`);
  if (version !== "1") return wrong("its version is not 1");
  if (chainId !== site.chainId) return wrong(`it names chain ${chainId}, not ${site.chainId}`);
  if (issuedAtMs > nowMs + clockSkewMs) return wrong("it was issued in the future: look at your clock");
  if (issuedAtMs < nowMs - nonceSeconds * 1000) {
    return wrong(`it was issued more than ${nonceSeconds} seconds ago: ask for a new nonce and sign again`);
  }
  if (expirationMs !== undefined && expirationMs <= nowMs)
    return wrong("it has expired: ask for a new nonce and sign again");
  if (notBeforeMs !== undefined && notBeforeMs > nowMs) return wrong("it is not valid yet (Not Before)");
  return undefined;
}

/** A problem with the message, said once for people and once for programs. */
export function wrong(what: string): Refusal {
  return refusal("invalid_params", `The message cannot be used: ${what}`, {
    errors: [{ pointer: "/message", message: what }],
  });
}

const shownMax = 100;

function shown(text: string): string {
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}
