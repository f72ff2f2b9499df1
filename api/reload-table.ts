import type { ReloadTable } from "../lib/reload/reload-table.ts";

const streams = "streams that begin from then on; none is closed";

/** What may change while the API runs, and what may not. README.md has it as a table. */
export const reloadTable: ReloadTable = {
  live: [
    {
      names: ["limits.points"],
      note: "requests from then on; who had used up its window may have more of it now",
    },
    { names: ["origins", "trustedProxies"], note: "requests from then on" },
    {
      names: ["upstream", "upstreamApiKey", "upstreamTimeoutMs", "headPollMs"],
      note: "calls from then on, and a new WebSocket for new blocks; of another chain nothing is copied or booked",
    },
    { names: ["sealSources"], note: "blocks from then on" },
    { names: ["contractsFolder"], note: "with the files in it: answers and pages from then on" },
    {
      names: ["names", "faucetUrl", "walletProxyUrl", "blockTimeSeconds", "stalledAfterMs"],
      note: "answers and pages from then on",
    },
    { names: ["session"], note: "nonces and sessions from then on; a session that is open keeps its end" },
    {
      names: [
        "svcDev.packages",
        "svcDev.webhookPrice",
        "svcDev.orderSeconds",
        "svcDev.openOrdersMax",
        "svcDev.activeKeysMax",
      ],
      note: "orders from then on; one that was made is paid at its price until its end",
    },
    { names: ["svcDev.secretAgainSeconds"], note: "keys and webhooks from then on" },
    { names: ["svcDev.webhooks.testsPerMinute"], note: "tests from then on" },
    {
      names: [
        "svcDev.events",
        "live.clientsMax",
        "live.perAddressMax",
        "checkout.clientsMax",
        "checkout.perAddressMax",
      ],
      note: streams,
    },
    {
      names: ["invoices.feeBasisPoints", "invoices.openMax", "invoices.watchedMax", "ledger.boxesMax"],
      note: "invoices from then on",
    },
    {
      names: ["invoices.rates"],
      note: "invoices from then on; with another `rateFile` none are made until it was read, within a second",
    },
    {
      names: [
        "payerRpc.callsPerMinute",
        "payerRpc.transactionsPerMinute",
        "payerRpc.sharedCallsPerMinute",
        "payerRpc.sharedTransactionsPerMinute",
        "payerRpc.inFlightMax",
        "payerRpc.inFlightPerClientMax",
        "payerRpc.batchItemsMax",
        "payerRpc.timeoutMs",
      ],
      note: "calls from then on",
    },
    { names: ["log.level"], note: "" },
  ],
  restart: [
    { names: ["profile"], note: "says which keys may be used at all" },
    {
      names: ["host", "port", "workers", "ops", "bodyBytesMax", "requestTimeoutMs"],
      note: "listeners are open with them",
    },
    { names: ["publicUrl"], note: "wallets sign in to it, and invoices name it" },
    { names: ["redis", "redisCommandTimeoutMs", "postgres"], note: "connections are open" },
    { names: ["limits.windowSeconds"], note: "counters in Redis end with it" },
    { names: ["feesFile"], note: "with what stands in it (`fees`): index and ledger follow that contract" },
    { names: ["ledger.pollMs", "ledger.rangeBlocksMax"], note: "the ledger's rounds are made of them" },
    {
      names: ["svcDev.orderSigner", "svcDev.sealingKeyFile", "invoices.orderSigner"],
      note: "keys are opened at the start",
    },
    {
      names: ["svcDev.webhooks.allowLoopback", "svcDev.webhooks.dnsServers"],
      note: "what webhooks may reach is fixed with the sender",
    },
    { names: ["payerRpc.enabled"], note: "whether there is such a path" },
    { names: ["live.replayMax", "cacheBytesMax"], note: "memory is laid out by them" },
    { names: ["live.heartbeatMs", "checkout.heartbeatMs"], note: "one timer for all streams" },
    { names: ["log.format"], note: "" },
  ],
  secret: ["upstreamApiKey"],
};
