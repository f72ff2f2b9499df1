import { AbiCoder } from "ethers/abi";
import { hashMessage } from "ethers/hash";
import { hasLowS, recoverAddress } from "../../../lib/chain/recover-address.ts";
import { ChainUnavailableError, type RpcClient } from "../../../lib/chain/rpc-client.ts";
import { hexQuantity } from "../../../lib/chain/rpc-values.ts";

export type SignatureVerdict = "valid" | "invalid" | "not deployed";

/** `isValidSignature(bytes32,bytes)` of EIP-1271: its selector is also what it answers for yes. */
const selector = "0x1626ba7e";
const yes = selector.padEnd(66, "0");
/** What ends a signature of a wallet that has no code yet (EIP-6492). */
const undeployedSuffix = "6492".repeat(16);
/** A verification costs some 10 000 gas a signer, and with curves that the chain does not know up to a million. */
const verificationGasMax = 2_000_000;

/**
 * Whether `signature` is `address`'s over `message` (EIP-191): by the address's own key, else by the contract there (EIP-1271),
 * asked once at the head with a bound of gas and, by `rpc`, of time. A key needs no chain.
 *
 * @throws ChainUnavailableError where a contract has to be asked and nobody answers.
 */
export async function checkSignature({
  address,
  message,
  signature,
  rpc,
}: {
  address: string;
  message: string;
  /** Hex with 0x. */
  signature: string;
  rpc: Pick<RpcClient, "ask">;
}): Promise<SignatureVerdict> {
  const digest = hashMessage(message);
  if (isOfKey({ address, digest, signature })) return "valid";
  if (signature.toLowerCase().endsWith(undeployedSuffix)) return "not deployed";
  const values = AbiCoder.defaultAbiCoder().encode(["bytes32", "bytes"], [digest, signature]);
  const call = { to: address, data: selector + values.slice(2), gas: hexQuantity(verificationGasMax) };
  const answer = await rpc.ask("eth_call", [call, "latest"]);
  if ("result" in answer) {
    // Exactly one word: a contract that gives back what it was sent, as the precompile at 0x04 does, says no yes.
    return answer.result === yes ? "valid" : "invalid";
  }
  if (answer.error.ofGateway) throw new ChainUnavailableError("the gateway refused to ask a contract wallet");
  return "invalid";
}

function isOfKey({
  address,
  digest,
  signature,
}: {
  address: string;
  digest: string;
  signature: string;
}): boolean {
  const bytes = Buffer.from(signature.slice(2), "hex");
  if (bytes.length !== 65 || !hasLowS(bytes)) return false;
  return recoverAddress(Buffer.from(digest.slice(2), "hex"), bytes) === address.toLowerCase();
}
