import { sign } from "node:crypto";

/** Signs what a node does for its operator only. It is needed on the operator's machine, and in no container. */
export const operatorKeyFile = "operator/rpc-key.pem";
export const operatorPublicKeyFile = "operator.pub.pem";

const livesSeconds = 60;

/**
 * A token for one method of a node's JSON-RPC, good for a minute. Besu takes a JSON Web Token with `permissions` and `exp`:
 * https://besu.hyperledger.org/public-networks/how-to/use-besu-api/authenticate
 */
export function operatorToken({
  privateKey,
  method,
  nowMs,
}: {
  /** PEM. */
  privateKey: string;
  /** `ibft_proposeValidatorVote` */
  method: string;
  nowMs: number;
}): string {
  const payload = {
    // Besu writes a permission as family:method.
    permissions: [method.replace("_", ":")],
    exp: Math.floor(nowMs / 1000) + livesSeconds,
  };
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ alg: "RS256", typ: "JWT" })}.${encode(payload)}`;
  return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), privateKey).toString("base64url")}`;
}
