/**
 * What to do about an error with which a connection to Redis failed; undefined where the error says enough. It has nothing of the
 * address in it.
 */
export function redisTrouble(error: Error): string | undefined {
  const code = "code" in error ? String(error.code) : "";
  for (const { pattern, hint } of hints) {
    if (pattern.test(code) || pattern.test(error.message)) return hint;
  }
  return undefined;
}

/** Codes are OpenSSL's and Node's, words those of Redis and of TLS alerts. */
const hints: readonly { pattern: RegExp; hint: string }[] = [
  {
    pattern: /^WRONGPASS/,
    hint: "Redis knows no such user with this password: look at the address (REDIS_URL) and at Redis's users",
  },
  {
    pattern: /^NOAUTH/,
    hint: "Redis asks for a user and a password: the address has to be redis://USER:PASSWORD@HOST:PORT",
  },
  { pattern: /^NOPERM/, hint: "the user has not the rights of this process: docker/redis/users/ has them" },
  {
    pattern: /SELF_SIGNED_CERT|UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)/,
    hint: "Redis's certificate is not of an authority that is known here: name it in the address with ?ssl_ca_certs=FILE",
  },
  { pattern: /^CERT_HAS_EXPIRED$/, hint: "Redis's certificate has expired: renew it" },
  {
    pattern: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    hint: "Redis's certificate is of another name: connect by a name that stands in it",
  },
  {
    pattern: /certificate required|handshake failure|bad certificate|unknown ca/i,
    hint: "Redis does not accept the client's certificate: name one in the address with ssl_certfile=FILE and ssl_keyfile=FILE",
  },
];
