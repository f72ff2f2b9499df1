import { scrypt as nativeScrypt } from "node:crypto";
import { scrypt } from "ethers/crypto";

/**
 * Lets ethers derive keys of keystores by Node.js's own scrypt: its JavaScript one takes 4 s of a processor for each
 * password, 20 on a busy machine.
 */
export function useNativeScrypt(): void {
  scrypt.register(
    (password, salt, N, r, p, dkLen) =>
      new Promise((resolve, reject) => {
        nativeScrypt(password, salt, dkLen, { N, r, p, maxmem: 2 ** 30 }, (error, key) =>
          error === null ? resolve(new Uint8Array(key)) : reject(error),
        );
      }),
  );
}
