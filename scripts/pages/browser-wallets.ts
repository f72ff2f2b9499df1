/** A script for a page: wallets of these names announce themselves (EIP-6963) and decline whatever they are asked. */
export const decliningWallets = (names: readonly string[]) => `(() => {
  for (const name of ${JSON.stringify(names)}) {
    const detail = Object.freeze({
      info: Object.freeze({ uuid: name, name, rdns: "example." + name.toLowerCase().replace(" ", "-"),
        icon: "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><circle cx='4' cy='4' r='4' fill='orange'/></svg>" }),
      provider: { request: async () => { throw Object.assign(new Error("no"), { code: 4001 }); } },
    });
    addEventListener("eip6963:requestProvider", () =>
      dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })));
  }
})();`;

export const oneWallet = decliningWallets(["Amber Wallet"]);
export const twoWallets = decliningWallets(["Amber Wallet", "Blue Wallet"]);
