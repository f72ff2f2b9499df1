// Runs in the page before its own scripts, as a wallet's content script does. `announcedWallets` says which wallets there
// are; what they are asked goes to the test (browser-wallet.ts), which has their keys.
for (const info of globalThis.announcedWallets) {
  const detail = Object.freeze({
    info: Object.freeze({
      ...info,
      // Another one for each page, as EIP-6963 wants it; getRandomValues is there without TLS as well.
      uuid: crypto.getRandomValues(new Uint32Array(4)).join("-"),
      icon: "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><circle cx='4' cy='4' r='4' fill='orange'/></svg>",
    }),
    provider: Object.freeze({
      async request({ method, params = [] }) {
        const { result, error } = await globalThis.askWallet(info.rdns, method, params);
        if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code });
        return result;
      },
    }),
  });
  globalThis.addEventListener("eip6963:requestProvider", () =>
    globalThis.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })),
  );
}
