import { randomBytes } from "node:crypto";
import { getAddress } from "ethers/address";
import t from "tap";
import { checksumAddress } from "../../../lib/chain/checksum-address.ts";

t.test("addresses have the checksum that ethers gives them", async (t) => {
  // From EIP-55.
  t.equal(
    checksumAddress("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"),
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  );
  for (let count = 0; count < 1000; count += 1) {
    const address = `0x${randomBytes(20).toString("hex")}`;
    const expected = getAddress(address);
    for (const given of [address, address, expected]) {
      if (checksumAddress(given) !== expected) t.equal(checksumAddress(given), expected);
    }
  }
});
