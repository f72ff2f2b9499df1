import { getAddress } from "ethers/address";
import { ZeroAddress } from "ethers/constants";
import { isHexString } from "ethers/utils";

/** An address that can be paid, or what is wrong with the text. */
export type AddressReading =
  | { address: string }
  | { wrong: string; reason: "address_form" | "address_checksum" | "address_zero" };

/**
 * Reads an address as EIP-55 writes it. Letters of one case have no checksum; where both are there it has to match, since
 * a typing error would send tokens to nobody.
 */
export function readAddress(text: unknown): AddressReading {
  if (typeof text !== "string" || !isHexString(text, 20)) {
    return { wrong: "an address was expected: 0x and 40 hexadecimal digits", reason: "address_form" };
  }
  const digits = text.slice(2);
  const hasChecksum = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  const address = getAddress(text.toLowerCase());
  if (hasChecksum && text !== address) {
    return {
      wrong:
        "the address's checksum does not match (EIP-55): it has a typing error, or its letters' case was changed",
      reason: "address_checksum",
    };
  }
  if (address === ZeroAddress) return { wrong: "the zero address belongs to nobody", reason: "address_zero" };
  return { address };
}
