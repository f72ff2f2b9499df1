import { verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { z } from "zod";
import type { Options } from "./read-options.ts";

const methodsFile = new URL("../../vectors/besu-26.8.0-methods.txt", import.meta.url);
const payloadSchema = z.object({ permissions: z.array(z.string()), exp: z.number() });

/** Whether a caller with this Authorization header may call a method, as Besu's AuthenticatedJsonRpcProcessor has it. */
export type IsPermitted = (method: string, authorization: string | undefined) => boolean;

/** Of one of Besu's two servers; throws in its words where it would not start. */
export function readAuthorization(options: Options, server: "http" | "ws"): IsPermitted {
  const open = options.get(`rpc-${server}-api-methods-no-auth`);
  const names = Array.isArray(open) ? open : [];
  const known = readFileSync(methodsFile, "utf8").split("\n");
  if (names.some((name) => !known.includes(name))) {
    throw new Error(
      `Invalid value for option '--rpc-${server}-api-methods-no-auth', options must be valid RPC methods`,
    );
  }
  if (options.get(`rpc-${server}-authentication-enabled`) !== true) return () => true;
  const file = options.get(`rpc-${server}-authentication-jwt-public-key-file`);
  if (typeof file !== "string") {
    throw new Error(
      `Unable to authenticate JSON-RPC ${server === "http" ? "HTTP" : "WebSocket"} endpoint without a supplied credentials file or authentication public key file`,
    );
  }
  const publicKey = readFileSync(file, "utf8");
  return (method, authorization) =>
    names.includes(method) || permissionsOf({ publicKey, authorization }).some((one) => covers(one, method));
}

function covers(permission: string, method: string): boolean {
  const family = method.split("_")[0];
  return permission === "*:*" || permission === `${family}:*` || permission === method.replace("_", ":");
}

function permissionsOf({
  publicKey,
  authorization = "",
}: {
  publicKey: string;
  authorization: string | undefined;
}): readonly string[] {
  const [header = "", payload = "", signature = ""] = authorization.replace(/^Bearer /, "").split(".");
  const signed = Buffer.from(`${header}.${payload}`);
  if (!verify("RSA-SHA256", signed, publicKey, Buffer.from(signature, "base64url"))) return [];
  const { permissions, exp } = payloadSchema.parse(JSON.parse(Buffer.from(payload, "base64url").toString()));
  return exp * 1000 > Date.now() ? permissions : [];
}
