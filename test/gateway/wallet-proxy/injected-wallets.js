// Runs in the page under test before its own scripts, as a wallet's content script does. `walletsUnderTest` says which
// wallets there are and what they answer; `walletRequests` keeps what they were asked.
globalThis.walletRequests = [];

const wallets = globalThis.walletsUnderTest.map(({ name, announces, answer }) => ({
  announces,
  detail: Object.freeze({
    info: Object.freeze({
      uuid: `uuid of ${name}`,
      name,
      icon: "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>",
      rdns: "example.wallet",
    }),
    provider: {
      async request({ method, params }) {
        globalThis.walletRequests.push({ wallet: name, method, params });
        if (answer === "accepts") return null;
        throw Object.assign(new Error(answer.message), { code: answer.code });
      },
    },
  }),
}));

globalThis.addEventListener("eip6963:requestProvider", () => {
  for (const { announces, detail } of wallets) {
    if (announces) globalThis.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
  }
});

const legacy = wallets.find(({ announces }) => !announces);
if (legacy !== undefined) globalThis.ethereum = legacy.detail.provider;
