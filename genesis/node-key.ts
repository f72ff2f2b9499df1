import { randomBytes } from "node:crypto";
import { SigningKey } from "ethers/crypto";
import { computeAddress } from "ethers/transaction";
import { hexlify } from "ethers/utils";

/** A secp256k1 key: a validator's, or an account's. */
export type NodeKey = {
  /** 0x and 64 digits. */
  privateKey: string;
  /** Lower case. */
  address: string;
  /** 128 digits without 0x: the name of a node in an enode URL (the public key without its prefix 04). */
  nodeId: string;
};

export function createNodeKey(privateKey: string = hexlify(randomBytes(32))): NodeKey {
  const { publicKey } = new SigningKey(privateKey);
  return {
    privateKey,
    address: computeAddress(publicKey).toLowerCase(),
    nodeId: publicKey.slice("0x04".length),
  };
}
