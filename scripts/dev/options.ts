import { parseArgs } from "node:util";

export type DevOptions = { reset: boolean; configFile: string; chainPort: number };

export type ReadOptions =
  | { kind: "run"; options: DevOptions }
  | { kind: "help"; text: string }
  | { kind: "unusable"; text: string };

const usage = `Usage: npm start -- [--reset] [--config FILE] [--chain-port PORT]

  --reset            removes .data (chain and Redis) and begins anew
  --config FILE      the gateway's configuration (default: config/gateway.yaml)
  --chain-port PORT  where the dev chain listens (default: 8545)
  --help             this text

REDIS_URL=redis://… npm start uses that Redis and starts none.
`;

/** Reads the command line of `npm start`; `unusable` says what was expected. */
export function readOptions(args: readonly string[]): ReadOptions {
  const unusable = (problem: string): ReadOptions => ({ kind: "unusable", text: `${problem}\n\n${usage}` });
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        reset: { type: "boolean", default: false },
        config: { type: "string", default: "config/gateway.yaml" },
        "chain-port": { type: "string", default: "8545" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return { kind: "help", text: usage };
    const chainPort = Number(values["chain-port"]);
    if (!/^\d+$/.test(values["chain-port"]) || chainPort < 1 || chainPort > 65_535) {
      return unusable(`--chain-port: a port, 1 to 65535, was expected, not "${values["chain-port"]}"`);
    }
    return { kind: "run", options: { reset: values.reset, configFile: values.config, chainPort } };
  } catch (error) {
    return unusable(error instanceof Error ? error.message : String(error));
  }
}
