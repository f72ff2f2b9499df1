export type Texts = typeof en;

/** Every text of the faucet's pages, in English. The other languages have the same shape. */
export const en = {
  locale: "en-GB",
  product: "faucet",
  skip: "Skip to the content",
  language: "Language",
  about: "A test network: its tokens are worth nothing.",
  contact: "Questions? Ask",
  intro: {
    title: "Test tokens for your wallet",
    text: (amount: string, window: string) =>
      `${amount} for each address on the network's allowlist, once in ${window}. They are worth nothing outside the test network.`,
  },
  form: {
    page: "Claim test tokens",
    title: "Claim",
    address: "Your address",
    hint: "0x and 40 digits, as your wallet shows it.",
    trap: "Leave this empty",
    submit: (amount: string) => `Claim ${amount}`,
    useWallet: "Use my wallet",
  },
  claim: {
    title: "Your claim",
    /** By what it has reached: the step's name, and what is said then. */
    steps: {
      received: { name: "Taken", says: "Your claim was taken and waits for its turn." },
      signed: { name: "Signed", says: "The payment is signed and on its way to the network." },
      broadcast: {
        name: "Sent",
        says: "The network has the payment; it comes with one of the next blocks.",
      },
      confirmed: { name: "Confirmed", says: "The tokens have arrived." },
    },
    refused: (reason: string) => `The claim was not paid: ${reason}. It does not count in any limit.`,
    /** Why a claim was not paid, by what the payer wrote down. */
    reasons: {
      "The address is a contract": "the address is a contract",
      "The address had its claim already": "the address had its claim already",
      "The transaction was reverted by its recipient": "its recipient sent the payment back",
      "The network does not take the transaction": "the network does not take the payment",
    },
    unknownReason: "no reason is known",
    /** Leads to the claim again: without scripts the page stands still. */
    again: "See how it stands now",
    recipient: "Recipient",
    balance: "Balance after it",
    next: "Next claim",
    nextNow: "Possible now",
    transaction: "Transaction",
    block: "Block",
  },
  recent: {
    title: "My recent claims",
    hint: "Claims that were made in this browser.",
    status: {
      received: "Waiting",
      signed: "Under way",
      broadcast: "Under way",
      confirmed: "Confirmed",
      refused: "Not paid",
    },
  },
  now: {
    title: "The faucet now",
    state: "State",
    holds: "Holds",
    claims: (window: string) => `Claims in ${window}`,
    countOf: (count: string, all: string) => `${count} of ${all}`,
    waiting: "Waiting",
    open: "Open",
    paused: "Paused by its operators",
    feeTooHigh: "Claims wait: the network's fee is too high at the moment",
    silent: "Claims wait: the network does not answer at the moment",
    starting: "Looking at the chain",
    empty: "Empty until it is refilled",
    away: "The faucet cannot look up its claims at the moment",
  },
  network: {
    title: "The network",
    name: "Name",
    chainId: "Chain ID",
    rpcUrl: "RPC URL for wallets",
    proxy:
      "Wallets reach the network through the wallet proxy: a small program on your own machine that adds your team's API key to what the wallet asks.",
    proxyFrom:
      "Its command is tollgate-wallet-proxy; it comes from the people who gave you the key, and runs as long as you use the network.",
    proxyGuide: "How to get the wallet proxy",
    add: "Add the network to my wallet",
  },
  refusals: {
    address_form: "An address was expected: 0x and 40 hexadecimal digits.",
    address_checksum:
      "The address has a typing error, or the case of its letters was changed: its checksum does not match.",
    address_zero: "The zero address belongs to nobody.",
    address_contract: "The address is a contract; the faucet pays accounts with a key of their own.",
    not_allowlisted:
      "The address is not on the faucet's allowlist. Ask the people who run the network to add it.",
    limit_address: "The address has had its claim.",
    limit_scope: "There were as many claims from your network address as may be.",
    limit_all: "The faucet has paid as much as it may in one day.",
    refused_often: "Too many claims from your network address were refused.",
    paused: "The faucet is paused by the people who run it.",
    starting: "The faucet reads its earlier payments from the chain first.",
    queue_full: "Too many claims wait already.",
    faucet_empty: "The faucet does not hold enough for this claim and those before it.",
    outcome_unknown: "Whether the claim was taken is not known. Claim again: you will not be paid twice.",
    idempotency_key_reused: "This claim was sent before, for another address. Load the page again.",
    forbidden: "Forms of other sites cannot claim; use the faucet's own page.",
    request_refused: "The request was refused.",
    service_unavailable: "The faucet cannot look that up at the moment.",
    other: "The request cannot be read.",
    internal_error: "Something went wrong on our side.",
  },
  again: {
    /** Of seconds or minutes. */
    soon: (length: string) => `Try again in ${length}.`,
    /** Of hours, with the time of day. */
    later: (length: string) => `The next is possible in ${length}:`,
  },
  refusedPage: "The claim was refused",
  missing: {
    title: "There is no such page",
    help: "The address may be mistyped. The faucet has one page, and one for each claim.",
    claim: "There is no such claim",
    claimHelp: "The faucet forgets a claim some days after it has ended. What was paid stays on the chain.",
    home: "To the faucet",
  },
  away: {
    title: "The faucet is away for a moment",
    help: "It cannot look up its claims. This page tries again by itself; claims that were taken are not lost.",
    again: "Try again",
  },
  failed: {
    title: "Something went wrong on our side",
    help: (id: string) => `The people who run the faucet find it in the log under ${id}.`,
  },
  /** What the page's script says; it fills in {names}. */
  words: {
    copy: "Copy",
    copied: "Copied",
    notCopied: "Not copied",
    typeAddress: "Type the address that is to get the tokens.",
    claiming: "Claiming…",
    underWay: "Your claim for this address is under way: see below.",
    noAnswer:
      "The faucet does not answer. Press the button again in a moment: you will not be paid twice, nor forgotten.",
    silent: "The faucet does not answer",
    vanished: "The faucet does not know this claim any more. Claim again: you will not be paid twice.",
    useWallet: "Use my wallet",
    useNamed: "Use {name}",
    addNetwork: "Add the network to my wallet",
    addNamed: "Add the network to {name}",
    answerWallet: "Answer in your wallet.",
    networkAdded: "The network is in your wallet.",
    walletDeclined: "You declined in the wallet.",
    walletWaits: "The wallet already waits for your answer: open it.",
    walletCannot: "This wallet cannot be asked to do that.",
    walletFailed: "The wallet did not do it: {message}",
    noReason: "it gave no reason",
    noAccount: "The wallet gave no address.",
  },
};
