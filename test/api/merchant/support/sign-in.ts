import { Wallet } from "ethers";
import { z } from "zod";
import type { Answer, ApiUnderTest } from "../../support/start-api.ts";

export const sessionPath = "/api/v1/svc-dev/session";
export const sessionsPath = "/api/v1/svc-dev/sessions";

/** Keys of the development chain's accounts (the mnemonic of anvil and hardhat). */
export const aliceWallet = new Wallet("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
export const bobWallet = new Wallet("0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d");

const given = z.object({
  ...{ nonce: z.string(), domain: z.string(), uri: z.string(), chainId: z.number(), statement: z.string() },
  ...{ issuedAt: z.string(), expirationTime: z.string() },
});
export type GivenNonce = z.output<typeof given>;

const opened = z.object({
  session: z.object({ id: z.string(), address: z.string() }),
  token: z.string(),
});

type Api = Pick<ApiUnderTest, "url">;
export type Sent = { method?: string; headers?: Record<string, string>; body?: unknown };

/** Sends JSON; a text goes as it is. */
export async function send(
  api: Api,
  path: string,
  { method = "POST", headers = {}, body }: Sent = {},
): Promise<Answer> {
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text === "" ? undefined : JSON.parse(text),
  };
}

export async function askNonce(api: Api): Promise<GivenNonce> {
  return given.parse((await send(api, `${sessionPath}/nonce`, { body: {} })).json);
}

/** The message of EIP-4361; `lines` replaces or (with undefined) leaves out one by its name. */
export function messageOf(
  nonce: GivenNonce,
  {
    address,
    domain = nonce.domain,
    statement = nonce.statement,
    lines = {},
  }: { address: string; domain?: string; statement?: string; lines?: Record<string, string | undefined> },
): string {
  const fields: Record<string, string | undefined> = {
    URI: nonce.uri,
    Version: "1",
    "Chain ID": String(nonce.chainId),
    Nonce: nonce.nonce,
    "Issued At": nonce.issuedAt,
    "Expiration Time": nonce.expirationTime,
    ...lines,
  };
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    ...[address, "", statement, ""],
    ...Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`])),
  ].join("\n");
}

/** Signs a wallet in. */
export async function signIn(
  api: Api,
  wallet: Wallet = aliceWallet,
  headers: Record<string, string> = {},
): Promise<{
  token: string;
  id: string;
  cookie: string;
  setCookie: string;
  bearer: { Authorization: string };
}> {
  const message = messageOf(await askNonce(api), { address: wallet.address });
  const signature = await wallet.signMessage(message);
  const answer = await send(api, sessionPath, { headers, body: { message, signature } });
  const { session, token } = opened.parse(answer.json);
  const setCookie = answer.headers.get("set-cookie") ?? "";
  const [cookie = ""] = setCookie.split(";");
  return { token, id: session.id, cookie, setCookie, bearer: { Authorization: `Bearer ${token}` } };
}
