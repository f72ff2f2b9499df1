/**
 * What each client library does with each refusal of the gateway. Every row is asserted by a test of this folder, as
 * it stands, and `npm run docs` writes the table of `gateway/CLIENTS.md` from it.
 */

/**
 * The clients of the table, as they are by default and with a setting that changes what they do, and the package that
 * each comes in: of npm, or of Python as requirements.txt pins it.
 */
export const clients = {
  ethers: { npm: "ethers" },
  "ethers, network not given": { npm: "ethers" },
  "ethers, maxAttempts 1": { npm: "ethers" },
  viem: { npm: "viem" },
  "viem, retryCount 0": { npm: "viem" },
  "web3.js": { npm: "web3" },
  cast: { npm: "@foundry-rs/cast" },
  Hardhat: { npm: "hardhat" },
  "web3.py": { python: "web3" },
  "web3.py, no retries": { python: "web3" },
} as const;
export type ClientName = keyof typeof clients;

export type Transport = "HTTP";

/** How each refusal comes about, in the words of the table. */
export const situations = {
  unauthorized: "No key, a mistyped or an unknown one (401)",
  limited: "Limit reached (429)",
  limitedBriefly: "Limit reached, window ends within 5 s (429)",
  methodRefused: "Method unknown or never forwarded (-32601)",
  batchLimited: "Limit reached within a batch (-32005)",
  unavailable: "No validator answers (503)",
  noContentType: "Own headers without a content type (415)",
} as const;
export type Situation = keyof typeof situations;

export type Behaviour = {
  client: ClientName;
  transport: Transport;
  situation: Situation;
  /** HTTP statuses that the gateway answers with until the client's user has the outcome. */
  answers: string;
  /** How long the client waits between its requests, all in all and about. */
  waitsSeconds: number;
  ends: "success" | ClientError;
  /** The client goes on asking, about once a second, when its user has the error already. */
  goesOn?: true;
};

/** What a client gives to its user. */
export type ClientError = {
  /** The error's class, and its code where it has one. */
  error: string;
  /**
   * Its headline. Of the gateway's answer, `{answer}` is the whole, `{message}` and `{data}` are members of its error;
   * `{url}` is its address and `{method}` what was asked.
   */
  says: string;
  /** The member of the error in which the gateway's message stands, as a path; "nowhere" where it is lost. */
  messageAt: string;
};

export const behaviours: readonly Behaviour[] = [
  {
    client: "ethers",
    transport: "HTTP",
    situation: "unauthorized",
    answers: "401",
    waitsSeconds: 0,
    ends: {
      error: "Error, SERVER_ERROR",
      says: "server response 401 Unauthorized",
      messageAt: "info.responseBody",
    },
  },
  {
    client: "ethers",
    transport: "HTTP",
    situation: "limited",
    answers: "12 × 429",
    waitsSeconds: 0.6,
    ends: {
      error: "Error, SERVER_ERROR",
      says: "exceeded maximum retry limit",
      messageAt: "info.responseBody",
    },
  },
  {
    client: "ethers",
    transport: "HTTP",
    situation: "methodRefused",
    answers: "200",
    waitsSeconds: 0,
    ends: { error: "Error, UNKNOWN_ERROR", says: "could not coalesce error", messageAt: "error.message" },
  },
  {
    client: "ethers",
    transport: "HTTP",
    situation: "batchLimited",
    answers: "200",
    waitsSeconds: 0,
    ends: { error: "Error, UNKNOWN_ERROR", says: "could not coalesce error", messageAt: "error.message" },
  },
  {
    client: "ethers",
    transport: "HTTP",
    situation: "unavailable",
    answers: "503",
    waitsSeconds: 0,
    ends: {
      error: "Error, SERVER_ERROR",
      says: "server response 503 Service Unavailable",
      messageAt: "info.responseBody",
    },
  },
  {
    client: "ethers, network not given",
    transport: "HTTP",
    situation: "unauthorized",
    answers: "401",
    waitsSeconds: 0,
    ends: {
      error: "Error, SERVER_ERROR",
      says: "server response 401 Unauthorized",
      messageAt: "info.responseBody",
    },
    goesOn: true,
  },
  {
    client: "ethers, network not given",
    transport: "HTTP",
    situation: "unavailable",
    answers: "503",
    waitsSeconds: 0,
    ends: {
      error: "Error, SERVER_ERROR",
      says: "server response 503 Service Unavailable",
      messageAt: "info.responseBody",
    },
    goesOn: true,
  },
  {
    client: "ethers, maxAttempts 1",
    transport: "HTTP",
    situation: "limited",
    answers: "429",
    waitsSeconds: 0,
    ends: {
      error: "Error, SERVER_ERROR",
      says: "exceeded maximum retry limit",
      messageAt: "info.responseBody",
    },
  },
  {
    client: "viem",
    transport: "HTTP",
    situation: "unauthorized",
    answers: "401",
    waitsSeconds: 0,
    ends: { error: "RpcRequestError, -32090", says: "RPC Request failed.", messageAt: "details" },
  },
  {
    client: "viem",
    transport: "HTTP",
    situation: "limited",
    answers: "4 × 429",
    waitsSeconds: 1,
    ends: {
      error: "LimitExceededRpcError, -32005",
      says: "Request exceeds defined limit.",
      messageAt: "details",
    },
  },
  {
    client: "viem",
    transport: "HTTP",
    situation: "methodRefused",
    answers: "200",
    waitsSeconds: 0,
    ends: {
      error: "MethodNotFoundRpcError, -32601",
      says: "The method {method} does not exist / is not available.",
      messageAt: "details",
    },
  },
  {
    client: "viem",
    transport: "HTTP",
    situation: "batchLimited",
    answers: "4 × 200",
    waitsSeconds: 1,
    ends: {
      error: "LimitExceededRpcError, -32005",
      says: "Request exceeds defined limit.",
      messageAt: "details",
    },
  },
  {
    client: "viem",
    transport: "HTTP",
    situation: "unavailable",
    answers: "503",
    waitsSeconds: 0,
    ends: {
      error: "ResourceUnavailableRpcError, -32002",
      says: "Requested resource not available.",
      messageAt: "details",
    },
  },
  {
    client: "viem, retryCount 0",
    transport: "HTTP",
    situation: "limited",
    answers: "429",
    waitsSeconds: 0,
    ends: {
      error: "LimitExceededRpcError, -32005",
      says: "Request exceeds defined limit.",
      messageAt: "details",
    },
  },
  {
    client: "web3.js",
    transport: "HTTP",
    situation: "unauthorized",
    answers: "401",
    waitsSeconds: 0,
    ends: { error: "ResponseError, 100", says: "Returned error: {message}", messageAt: "message" },
  },
  {
    client: "web3.js",
    transport: "HTTP",
    situation: "limited",
    answers: "429",
    waitsSeconds: 0,
    ends: { error: "ResponseError, 100", says: "Returned error: {message}", messageAt: "message" },
  },
  {
    client: "web3.js",
    transport: "HTTP",
    situation: "methodRefused",
    answers: "200",
    waitsSeconds: 0,
    ends: { error: "InvalidResponseError, 101", says: "Returned error: {message}", messageAt: "message" },
  },
  {
    client: "web3.js",
    transport: "HTTP",
    situation: "batchLimited",
    answers: "200",
    waitsSeconds: 0,
    ends: { error: "a plain object, -32005", says: "{message}", messageAt: "message" },
  },
  {
    client: "web3.js",
    transport: "HTTP",
    situation: "unavailable",
    answers: "503",
    waitsSeconds: 0,
    ends: { error: "ResponseError, 100", says: "Returned error: {message}", messageAt: "message" },
  },
  {
    client: "cast",
    transport: "HTTP",
    situation: "unauthorized",
    answers: "401",
    waitsSeconds: 0,
    ends: { error: "exit code 1", says: "Error: HTTP error 401 with body: {answer}", messageAt: "message" },
  },
  {
    client: "cast",
    transport: "HTTP",
    situation: "limited",
    answers: "9 × 429",
    waitsSeconds: 6.4,
    ends: {
      error: "exit code 1",
      says: "Error: Max retries exceeded HTTP error 429 with body: {answer}",
      messageAt: "message",
    },
  },
  {
    client: "cast",
    transport: "HTTP",
    situation: "limitedBriefly",
    answers: "429, then 200",
    waitsSeconds: 3,
    ends: "success",
  },
  {
    client: "cast",
    transport: "HTTP",
    situation: "methodRefused",
    answers: "200",
    waitsSeconds: 0,
    ends: {
      error: "exit code 1",
      says: "Error: server returned an error response: error code -32601: {message}, data: {data}",
      messageAt: "message",
    },
  },
  {
    client: "cast",
    transport: "HTTP",
    situation: "unavailable",
    answers: "9 × 503",
    waitsSeconds: 6.4,
    ends: {
      error: "exit code 1",
      says: "Error: Max retries exceeded HTTP error 503 with body: {answer}",
      messageAt: "message",
    },
  },
  {
    client: "Hardhat",
    transport: "HTTP",
    situation: "unauthorized",
    answers: "2 × 401",
    waitsSeconds: 0,
    ends: {
      error: "UnknownError, -1",
      says: "Received an unexpected status code from {url}",
      messageAt: "cause.body.error.message",
    },
  },
  {
    client: "Hardhat",
    transport: "HTTP",
    situation: "limited",
    answers: "429",
    waitsSeconds: 0,
    ends: {
      error: "LimitExceededError, -32005",
      says: "Limit exceeded",
      messageAt: "cause.body.error.message",
    },
  },
  {
    client: "Hardhat",
    transport: "HTTP",
    situation: "limitedBriefly",
    answers: "429, then 200",
    waitsSeconds: 3,
    ends: "success",
  },
  {
    client: "Hardhat",
    transport: "HTTP",
    situation: "methodRefused",
    answers: "2 × 200",
    waitsSeconds: 0,
    ends: { error: "ProviderError, -32601", says: "{message}", messageAt: "message" },
  },
  {
    client: "Hardhat",
    transport: "HTTP",
    situation: "unavailable",
    answers: "2 × 503",
    waitsSeconds: 0,
    ends: {
      error: "UnknownError, -1",
      says: "Received an unexpected status code from {url}",
      messageAt: "cause.body.error.message",
    },
  },
  {
    client: "web3.py",
    transport: "HTTP",
    situation: "unauthorized",
    answers: "5 × 401",
    waitsSeconds: 1.9,
    ends: {
      error: "requests.exceptions.HTTPError",
      says: "401 Client Error: Unauthorized for url: {url}",
      messageAt: "response.text",
    },
  },
  {
    client: "web3.py",
    transport: "HTTP",
    situation: "limited",
    answers: "5 × 429",
    waitsSeconds: 1.9,
    ends: {
      error: "requests.exceptions.HTTPError",
      says: "429 Client Error: Too Many Requests for url: {url}",
      messageAt: "response.text",
    },
  },
  {
    client: "web3.py",
    transport: "HTTP",
    situation: "methodRefused",
    answers: "200",
    waitsSeconds: 0,
    ends: {
      error: "web3.exceptions.MethodUnavailable",
      says: "{'code': -32601, 'message': '{message}', 'data': {data}}",
      messageAt: "message",
    },
  },
  {
    client: "web3.py",
    transport: "HTTP",
    situation: "batchLimited",
    answers: "200",
    waitsSeconds: 0,
    ends: {
      error: "web3.exceptions.Web3RPCError",
      says: "{'code': -32005, 'message': '{message}', 'data': {data}}",
      messageAt: "message",
    },
  },
  {
    client: "web3.py",
    transport: "HTTP",
    situation: "unavailable",
    answers: "5 × 503",
    waitsSeconds: 1.9,
    ends: {
      error: "requests.exceptions.HTTPError",
      says: "503 Server Error: Service Unavailable for url: {url}",
      messageAt: "response.text",
    },
  },
  {
    client: "web3.py",
    transport: "HTTP",
    situation: "noContentType",
    answers: "5 × 415",
    waitsSeconds: 1.9,
    ends: {
      error: "requests.exceptions.HTTPError",
      says: "415 Client Error: Unsupported Media Type for url: {url}",
      messageAt: "response.text",
    },
  },
  {
    client: "web3.py, no retries",
    transport: "HTTP",
    situation: "unauthorized",
    answers: "401",
    waitsSeconds: 0,
    ends: {
      error: "requests.exceptions.HTTPError",
      says: "401 Client Error: Unauthorized for url: {url}",
      messageAt: "response.text",
    },
  },
];
