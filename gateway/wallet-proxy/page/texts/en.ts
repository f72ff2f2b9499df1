export type Texts = typeof en;

/** Every text of the wallet proxy's page, in English. The other languages have the same shape. */
export const en = {
  product: "wallet proxy",
  skip: "Skip to the content",
  language: "Language",
  page: "Add the network",
  title: "Add the network to your wallet",
  intro:
    "This page comes from your own machine. The wallet proxy behind it adds your team's API key to what your wallet asks, so the wallet never has to know it. It works for as long as the proxy runs.",
  noScripts:
    "Without JavaScript this page can ask no wallet. Copy the values below into your wallet's settings.",
  wallet: {
    title: "Your wallet",
    looking: "Looking for wallets in this browser…",
  },
  next: {
    tokens: "Get test tokens",
    explorer: "Open the explorer",
  },
  status: {
    title: "The network now",
    asking: "Asking the gateway…",
    block: "Latest block",
    chainId: "Chain ID",
  },
  values: {
    title: "By hand",
    intro: "For a wallet that cannot be asked from here: copy these into its settings for a custom network.",
    chainName: "Network name",
    rpcUrl: "RPC URL",
    chainId: "Chain ID",
    chainIdHex: "Chain ID, hexadecimal",
    symbol: "Currency symbol",
    decimals: "Currency decimals",
    explorerUrl: "Block explorer URL",
    all: "All values",
    explorer: "Block explorer",
    tokens: "Test tokens",
  },
  /** What the page's scripts say; they fill in {names}. */
  words: {
    copy: "Copy",
    copied: "Copied",
    notCopied: "Not copied",
    copyAll: "Copy all as JSON",
    walletsFound: "Your wallet will show what it is asked to add, and ask you to agree.",
    walletsNone:
      "No wallet was found in this browser. Open this page in the browser that has your wallet, or install one and load the page again. Wallets outside the browser take the values below.",
    addTo: "Add to {name}",
    anyWallet: "your browser wallet",
    answerWallet: "Answer in your wallet.",
    networkAdded: "The network is in your wallet.",
    walletDeclined: "You declined in the wallet, so nothing was added.",
    walletWaits: "The wallet already waits for your answer: open it.",
    walletCannot: "This wallet cannot be asked to add a network: copy the values below into its settings.",
    walletFailed: "The wallet did not add it: {message}",
    noReason: "it gave no reason",
    gatewayAnswers: "The gateway answers",
    gatewayStatus: "The gateway answered with status {status}",
    otherNetwork: "The gateway serves another network (chain ID {chainId}): do not add this one.",
    proxyAway: "The wallet proxy does not answer: does it still run?",
    // By the code of the gateway's error, whose own words are {message}.
    problem_api_key_missing: "{message}",
    problem_api_key_invalid: "The gateway does not know the API key of the wallet proxy: check its file.",
    problem_api_key_expired: "The API key of the wallet proxy has expired: ask for another one.",
    problem_api_key_revoked: "The API key of the wallet proxy was revoked: ask for another one.",
    problem_insufficient_permission: "The API key of the wallet proxy may not ask this.",
    problem_rate_limited: "The API key has reached its limit of requests; the page asks again later.",
    problem_upstream_unavailable: "{message}",
    problem_network_stalled: "The network makes no blocks at the moment.",
  },
};
