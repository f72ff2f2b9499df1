import type { ReloadTable } from "../lib/reload/reload-table.ts";

/** What may change while the faucet runs, and what may not. README.md has it as a table. */
export const reloadTable: ReloadTable = {
  live: [
    {
      names: ["amount"],
      note: "claims that are taken from then on; one that was taken is paid what it was promised",
    },
    { names: ["lowBalance"], note: "the alarm, within two seconds" },
    {
      names: ["limits"],
      note: "claims that come from then on; a claim that was taken counts for the window of its time, and so do refusals",
    },
    {
      names: ["allowlistFile", "allowlistPollMs"],
      note: "looked at once; a file that cannot be used refuses the reload",
    },
    {
      names: ["upstream", "upstreamApiKey", "upstreamTimeoutMs"],
      note: "calls from then on; of another chain nothing is paid",
    },
    { names: ["trustedProxies"], note: "requests from then on" },
    { names: ["queueMax", "recordsKeptMs"], note: "claims that are taken, or that end, from then on" },
    {
      names: ["inFlightMax", "pollMs", "idlePollMs", "resendAfterMs", "giveUpAfterMs"],
      note: "from the payer's next round",
    },
    { names: ["fees"], note: "payments that are signed from then on; what is signed is sent again as it is" },
    { names: ["walletRpcUrl", "explorerUrl", "walletProxyGuide", "contact"], note: "pages from then on" },
    { names: ["log.level"], note: "" },
  ],
  restart: [
    { names: ["profile"], note: "says which keys may be used at all" },
    { names: ["host", "port", "private", "ops"], note: "listeners are open" },
    { names: ["bodyBytesMax", "requestTimeoutMs"], note: "bounds of the listeners" },
    { names: ["redis", "redisCommandTimeoutMs"], note: "claims and the nonce live there" },
    { names: ["wallet"], note: "claims and the nonce belong to it" },
    { names: ["idempotencyMs"], note: "claims' ids are made of it: a repeated claim would be another one" },
    { names: ["leaderMs"], note: "the paying replica holds a lock of that time" },
    { names: ["log.format"], note: "" },
  ],
  secret: ["upstreamApiKey"],
};
