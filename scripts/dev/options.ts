import type { SingleProgram } from "../../lib/cli/command.ts";
import { type ReadProgram, readProgram } from "../../lib/cli/read-program.ts";
import { portNumber } from "../../lib/cli/values.ts";

export type DevOptions = {
  /** Besu validators instead of anvil. */
  besu: boolean;
  reset: boolean;
  configFile: string;
  networkFile: string;
  faucetFile: string;
  apiFile: string;
  chainPort: number;
  walletPort: number;
};

const program: SingleProgram = {
  invocation: "npm start --",
  summary:
    "Everything on this machine: a chain, Redis, PostgreSQL, the gateway, the wallet proxy, the faucet and the API.",
  options: {
    besu: {
      text: "runs the validators of Besu that BESU_HOME names instead of anvil, with a chain and databases of their own",
    },
    reset: { text: "removes what it left in .data (chain, Redis, PostgreSQL) and begins anew" },
    config: { value: "FILE", text: "the gateway's configuration", default: "config/gateway.yaml" },
    network: { value: "FILE", text: "the validators', for --besu", default: "config/network.yaml" },
    faucet: { value: "FILE", text: "the faucet's configuration", default: "config/faucet.yaml" },
    api: { value: "FILE", text: "the API's configuration", default: "config/api.yaml" },
    "chain-port": {
      value: "PORT",
      text: "where the internal RPC listens, the way to the dev chain without a key",
      default: "8545",
    },
    "wallet-port": {
      value: "PORT",
      text: "where the wallet proxy listens",
      default: "8541",
    },
  },
  details: [
    "REDIS_URL=redis://… npm start uses that Redis and starts none; so does POSTGRES_URL=postgres://… with PostgreSQL.",
  ],
};

/** Reads the command line of `npm start`; `unusable` says what was expected. */
export function readOptions(args: readonly string[]): ReadProgram<DevOptions> {
  return readProgram(program, args, ({ has, need, needText }) => ({
    besu: has("besu"),
    reset: has("reset"),
    configFile: needText("config"),
    networkFile: needText("network"),
    faucetFile: needText("faucet"),
    apiFile: needText("api"),
    chainPort: need("chain-port", portNumber({ min: 1 })),
    walletPort: need("wallet-port", portNumber({ min: 1 })),
  }));
}
