/**
 * One example for each endpoint of the public API: what is asked, and the answer, shortened (`…` stands for more of the
 * same object or list, or for more digits). `$TX` and its like are set above the table of api/README.md. A test asks each of
 * an API and holds the answers' form against it.
 */
export type ApiExample = { ask: string; answer: string };

/** By the route's operationId. */
export const apiExamples: Readonly<Record<string, ApiExample>> = {
  getChain: {
    ask: "/api/v1/chain",
    answer:
      '{"chainId":8845,"chainIdHex":"0x228d","blockNumber":23,"timestamp":"2026-11-22T16:15:18Z","timestampUnix":1795364118,"epoch":1,"consensus":"dev","stalled":false,"indexedBlock":23,…}',
  },
  getNetworkContracts: {
    ask: "/api/v1/network/contracts",
    answer:
      '{"chainId":8845,"data":[{"name":"FeeCollector","address":"0x718C…","deployedAtBlock":null,"abiUrl":"/api/v1/network/contracts/FeeCollector/abi.json",…}]}',
  },
  getContractAbi: {
    ask: "/api/v1/network/contracts/FeeCollector/abi.json",
    answer:
      '[{"type":"constructor","inputs":[{"internalType":"address","name":"owner_","type":"address"},…],…},…]',
  },
  listBlocks: {
    ask: "/api/v1/blocks?limit=1",
    answer:
      '{"data":[{"number":23,"hash":"0xce03…","proposer":"0x0000…","gasUsed":"0","transactionCount":0,…}],"nextCursor":"MS4xLjIz…","indexedBlock":23}',
  },
  getLatestBlock: {
    ask: "/api/v1/blocks/latest",
    answer: '{"number":23,"hash":"0xce03…","parentHash":"0x08cd…","transactions":[],…}',
  },
  getBlock: {
    ask: "/api/v1/blocks/1",
    answer:
      '{"number":1,"hash":"0x35ff…","gasUsed":"0","gasLimit":"30000000","size":578,"transactionCount":0,…}',
  },
  getBlockByHash: {
    ask: "/api/v1/blocks/hash/$BLOCK",
    answer: '{"number":1,"hash":"0x35ff…","stateRoot":"0x4959…",…}',
  },
  listBlockTransactions: {
    ask: "/api/v1/blocks/1/transactions",
    answer: '{"data":[],"nextCursor":null,"indexedBlock":23}',
  },
  getBlockConsensus: {
    ask: "/api/v1/blocks/1/consensus",
    answer:
      '{"blockNumber":1,"round":null,"sealedBy":[],"notSealed":[],"missedTurns":[],"validators":[],"quorum":0}',
  },
  listTransactions: {
    ask: "/api/v1/transactions?limit=1",
    answer:
      '{"data":[{"hash":"0xa1c3…","blockNumber":22,"status":"success","from":"0xa0Ee…","to":"0x7099…","value":"10000000000000000000",…}],"nextCursor":null,"indexedBlock":23}',
  },
  getTransaction: {
    ask: "/api/v1/transactions/$TX",
    answer:
      '{"hash":"0xa1c3…","status":"success","value":"10000000000000000000","method":{"selector":"0x7467…","name":null,…},"receipt":{"status":"success","gasUsed":"21320","logs":[],…},"tokenTransfers":[],"revert":null,…}',
  },
  listTransactionLogs: { ask: "/api/v1/transactions/$TX/logs", answer: '{"data":[]}' },
  getAccount: {
    ask: "/api/v1/accounts/$ADDRESS",
    answer:
      '{"address":"0x7099…","balance":"1000010000000000000000000","transactionCount":0,"isContract":false,"firstSeenBlock":22,"blockNumber":24,…}',
  },
  listAccountTransactions: {
    ask: "/api/v1/accounts/$ADDRESS/transactions?direction=in&limit=1",
    answer: '{"data":[{"hash":"0xa1c3…","nonce":0,"fee":"0",…}],"nextCursor":null,"indexedBlock":24}',
  },
  exportAccountTransactions: {
    ask: "/api/v1/accounts/$ADDRESS/transactions.csv",
    answer: "blockNumber,timestamp,hash,status,from,to,valueWei,feeWei,nonce…",
  },
  listAccountTransfers: {
    ask: "/api/v1/accounts/$ADDRESS/transfers",
    answer: '{"data":[],"nextCursor":null,"indexedBlock":24}',
  },
  exportAccountTransfers: {
    ask: "/api/v1/accounts/$ADDRESS/transfers.csv",
    answer: "blockNumber,timestamp,transactionHash,logIndex,token,symbol,from,to,value,tokenId…",
  },
  listTokenTransfers: {
    ask: "/api/v1/tokens/$ADDRESS/transfers",
    answer: '{"data":[],"nextCursor":null,"indexedBlock":24}',
  },
  listValidators: {
    ask: "/api/v1/validators",
    answer: '{"data":[],"note":"This is a development chain…"}',
  },
  getValidatorRanking: {
    ask: "/api/v1/validators/ranking",
    answer: '{"windowBlocks":1000,"formula":"score = round(…","data":[],…}',
  },
  getValidator: {
    ask: "/api/v1/validators/$VALIDATOR",
    answer:
      '{"address":"0x02f1…","active":true,"proposed":200,"turns":200,"missedTurns":0,"sealed":801,"sealable":1000,…}',
  },
  getBurns: {
    ask: "/api/v1/fees/burns",
    answer:
      '{"policy":{"burnBps":3000,"treasuryBps":7000},"contract":"0x718C…","burnSink":{"address":"0xeAea…","code":"0x","balance":"0"},"totals":{"payments":0,"amount":"0","burned":"0","treasury":"0"},"sources":[{"source":"svc_dev","payments":0,…},…],"byDay":[],…}',
  },
  listBurnEvents: {
    ask: "/api/v1/fees/burns/events",
    answer: '{"data":[],"nextCursor":null,"indexedBlock":24}',
  },
  search: {
    ask: "/api/v1/search?q=1",
    answer: '{"q":"1","data":[{"kind":"block","id":"1","title":"Block 1","url":"/api/v1/blocks/1"}]}',
  },
  getBlockTimes: {
    ask: "/api/v1/stats/block-times?blocks=2",
    answer: '{"data":[{"blockNumber":23,"seconds":2,…},…],"indexedBlock":24}',
  },
  getGasStatistics: {
    ask: "/api/v1/stats/gas?blocks=2",
    answer: '{"data":[{"blockNumber":23,"gasUsed":"0","gasLimit":"30000000",…},…],"indexedBlock":24}',
  },
  getProposerStatistics: {
    ask: "/api/v1/stats/proposers?blocks=2",
    answer: '{"windowBlocks":2,"data":[{"proposer":"0x0000…","blocks":2,"share":1}],"indexedBlock":24}',
  },
  getOpenApi: {
    ask: "/api/v1/openapi.json",
    answer: '{"openapi":"3.1.0","info":{"title":"Tollgate API",…},…}',
  },
  getGraphqlSchema: { ask: "/api/v1/graphql-schema", answer: "type Query {…" },
};

/** What is served beside the table of routes. */
export const otherExamples: readonly (ApiExample & { endpoint: string; what: string; options?: string })[] = [
  {
    endpoint: "GET /health",
    what: "What works: 200 `ok` or `degraded`, 503 `failing` where the chain cannot be read; free",
    ask: "/health",
    answer:
      '{"status":"ok","checks":{"chain":{"status":"ok","blockNumber":23},"index":{"status":"ok","indexedBlock":23,"behindBlocks":0},…},"version":"0.1.0"}',
  },
  {
    endpoint: "POST /graphql",
    what: "The same records by GraphQL; GET with `?query=` too; costs 1 and what the query costs",
    options: "-H 'Content-Type: application/json' -d '{\"query\":\"{ chain { blockNumber chainId } }\"}'",
    ask: "/graphql",
    answer: '{"data":{"chain":{"blockNumber":24,"chainId":8845}}}',
  },
  {
    endpoint: "GET /api/v1/live",
    what: "New blocks as server-sent events; `Last-Event-ID` brings what was missed; costs 1 when it connects",
    options: "-N",
    ask: "/api/v1/live",
    answer: "retry: 2000…",
  },
];
