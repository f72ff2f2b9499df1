import { askNode } from "../chain/ask-node.ts";

/** The version in what Besu says of itself, `besu/v26.8.0/linux-x86_64/openjdk-java-21`, among other lines. */
export function readBesuVersion(text: string): string | undefined {
  return /\bbesu\/v?(\d[^\s/]*)/i.exec(text)?.[1];
}

/** The version that a node says it is; undefined where it does not answer. */
export async function runningVersion(rpcUrl: string): Promise<string | undefined> {
  const [answer] = (await askNode(rpcUrl, [{ method: "web3_clientVersion" }])) ?? [];
  return typeof answer === "string" ? readBesuVersion(answer) : undefined;
}
