import { parseArgs } from "node:util";

export type DevOptions = {
  /** Validators of Besu instead of anvil. */
  besu: boolean;
  reset: boolean;
  configFile: string;
  networkFile: string;
  faucetFile: string;
  chainPort: number;
  walletPort: number;
};

export type ReadOptions =
  | { kind: "run"; options: DevOptions }
  | { kind: "help"; text: string }
  | { kind: "unusable"; text: string };

const usage = `Usage: npm start -- [--besu] [--reset] [--config FILE] [--network FILE]
                    [--faucet FILE] [--chain-port PORT] [--wallet-port PORT]

  --besu              runs the validators of Besu that BESU_HOME names instead of
                      anvil, with a chain and databases of their own
  --reset             removes what it left in .data (chain, Redis, PostgreSQL)
                      and begins anew
  --config FILE       the gateway's configuration (default: config/gateway.yaml)
  --network FILE      the validators', for --besu (default: config/network.yaml)
  --faucet FILE       the faucet's configuration (default: config/faucet.yaml)
  --chain-port PORT   where the internal RPC listens, the way to the dev chain
                      without a key (default: 8545)
  --wallet-port PORT  where the wallet proxy listens (default: 8541)
  --help              this text

REDIS_URL=redis://… npm start uses that Redis and starts none; so does
POSTGRES_URL=postgres://… with PostgreSQL.
`;

/** Reads the command line of `npm start`; `unusable` says what was expected. */
export function readOptions(args: readonly string[]): ReadOptions {
  const unusable = (problem: string): ReadOptions => ({ kind: "unusable", text: `${problem}\n\n${usage}` });
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        besu: { type: "boolean", default: false },
        reset: { type: "boolean", default: false },
        config: { type: "string", default: "config/gateway.yaml" },
        network: { type: "string", default: "config/network.yaml" },
        faucet: { type: "string", default: "config/faucet.yaml" },
        "chain-port": { type: "string", default: "8545" },
        "wallet-port": { type: "string", default: "8541" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return { kind: "help", text: usage };
    const { "chain-port": chainPort, "wallet-port": walletPort } = values;
    for (const [name, text] of Object.entries({ "chain-port": chainPort, "wallet-port": walletPort })) {
      if (!isPort(text)) return unusable(`--${name}: a port, 1 to 65535, was expected, not "${text}"`);
    }
    return {
      kind: "run",
      options: {
        besu: values.besu,
        reset: values.reset,
        configFile: values.config,
        networkFile: values.network,
        faucetFile: values.faucet,
        chainPort: Number(chainPort),
        walletPort: Number(walletPort),
      },
    };
  } catch (error) {
    return unusable(error instanceof Error ? error.message : String(error));
  }
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}
