import type { ReloadTable } from "../lib/reload/reload-table.ts";

/** What may change while the gateway runs, and what may not, for people. `reload.ts` decides by a list that a test holds to this. */
export const reloadTable: ReloadTable = {
  live: [
    {
      names: ["methodsFile", "limits"],
      note: "with what stands in the file: requests that begin from then on",
    },
    { names: ["upstreams"], note: "below; a `weight` in place" },
    {
      names: ["connections", "bodies", "answers", "filters"],
      note: "what comes from then on; nothing that is open is closed",
    },
    {
      names: [
        "webSocket.connectionsPerKeyMax",
        "webSocket.subscriptionsPerConnectionMax",
        "webSocket.logSubscriptionsPerKeyMax",
        "webSocket.logValuesPerKeyMax",
        "webSocket.logValuesMax",
        "webSocket.framesInFlightMax",
      ],
      note: "what comes from then on; nothing that is open is closed",
    },
    { names: ["webSocket.framesPerSecondMax", "webSocket.waitingBytesMax"], note: "new WebSockets" },
    {
      names: ["traces.gasMax", "traces.callsMax", "traces.heavyOptions"],
      note: "requests that begin from then on",
    },
    { names: ["tls"], note: "new connections; TLS is turned on or off by a restart" },
    { names: ["trustedProxies", "faucetUrl"], note: "requests from then on" },
    { names: ["drainDelayMs", "stopTimeoutMs"], note: "the next stop" },
    { names: ["log.level"], note: "" },
  ],
  restart: [
    { names: ["profile", "keys"], note: "keys of the file are put into Redis at the start" },
    { names: ["host", "port", "workers", "ops"], note: "listeners are open" },
    { names: ["redis", "redisCommandTimeoutMs"], note: "connections are open" },
    { names: ["chainId", "genesisHash", "blockTimeMs", "newHeads"], note: "the head is followed by them" },
    {
      names: ["traceUpstreams", "traces.sparedMin", "traces.queueMax", "traces.queuePerKeyMax"],
      note: "their pool is made of them",
    },
    { names: ["forward"], note: "lanes, queues and connections to nodes are made of it" },
    {
      names: ["webSocket.messageBytesMax", "webSocket.idleTimeoutSeconds"],
      note: "the library takes them once",
    },
    { names: ["keyLookUps", "deadlyCalls", "memory"], note: "tables in memory are laid out by them" },
    { names: ["explorer", "explorerUrl"], note: "whether there is such a path, and its bounds" },
    { names: ["log.format"], note: "" },
  ],
};
