import { defineConfig } from "hardhat/config";

/** What `hardhat.config.ts` exports; `hardhat run script.ts --network tollgate` then uses it. */
export function configure({ url, key, privateKey }: { url: string; key: string; privateKey: string }) {
  return defineConfig({
    networks: {
      tollgate: {
        type: "http",
        url,
        chainId: 8845,
        httpHeaders: { "X-API-Key": key },
        accounts: [privateKey],
      },
    },
  });
}
