import { AbiCoder } from "ethers/abi";
import { concat, getBytes } from "ethers/utils";
import { checksumAddress } from "../chain/checksum-address.ts";
import { keccak256 } from "../chain/keccak256.ts";
import { depositBoxArtifact, feeCollectorArtifact } from "./artifacts.ts";

/**
 * The deterministic-deployment proxy (Arachnid's): what is made through it has the same address on every chain. Our
 * genesis block holds it, and so does anvil. It takes 32 bytes of salt, then init code.
 */
export const create2Factory = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

/** Salt of all that we deploy by the factory. */
export const deploymentSalt = `0x${"00".repeat(32)}`;

/** PUSH1 1, PUSH0, RETURN: leaves one byte of untouched memory as code, which is STOP. */
export const burnSinkInitCode = "0x60015ff3";
export const burnSinkCode = "0x00";

/** Takes what is burned: an account that no key and no code can spend from. EIP-55, the same on every chain. */
export const burnSinkAddress = create2Address({
  deployer: create2Factory,
  salt: deploymentSalt,
  initCode: burnSinkInitCode,
});

/** Where the FeeCollector of this owner and treasury is, on every chain: EIP-55. Both are those of its deployment. */
export function feeCollectorAddress(parties: { owner: string; treasury: string }): string {
  return create2Address({
    deployer: create2Factory,
    salt: deploymentSalt,
    initCode: feeCollectorInitCode(parties),
  });
}

/** What makes it: the compiled init code and the constructor's arguments. */
export function feeCollectorInitCode({ owner, treasury }: { owner: string; treasury: string }): string {
  const parties = AbiCoder.defaultAbiCoder().encode(
    ["address", "address", "address"],
    [owner, treasury, burnSinkAddress],
  );
  return concat([feeCollectorArtifact.initCode, parties]);
}

/** An order's own address for plain transfers (EIP-55), before and after there is code. `id` is `orderId`. */
export function depositBoxAddress({ feeCollector, id }: { feeCollector: string; id: string }): string {
  return create2Address({ deployer: feeCollector, salt: id, initCode: depositBoxArtifact.initCode });
}

/** EIP-1014. */
function create2Address({
  deployer,
  salt,
  initCode,
}: {
  deployer: string;
  salt: string;
  initCode: string;
}): string {
  // The hasher may hand out the same bytes again: each hash is used before the next is made.
  const code = Buffer.from(keccak256(getBytes(initCode))).toString("hex");
  const bytes = keccak256(getBytes(`0xff${deployer.slice(2)}${salt.slice(2)}${code}`));
  return checksumAddress(`0x${Buffer.from(bytes.subarray(12)).toString("hex")}`);
}
