import { readFileSync } from "node:fs";
import { z } from "zod";
import { genesisBlock } from "../../../genesis/genesis-block.ts";
import { decodeExtraData } from "../../../lib/ibft/extra-data.ts";
import type { Options } from "./read-options.ts";

export type StandInGenesis = {
  chainId: number;
  blockMs: number;
  requestTimeoutMs: number;
  epochBlocks: number;
  /** Of block 0: votes change them. */
  validators: readonly string[];
  /** Wei by address, lower case. */
  balances: ReadonlyMap<string, bigint>;
  block: NonNullable<ReturnType<typeof genesisBlock>>;
};

const bft = z.object({
  blockperiodseconds: z.int().positive(),
  requesttimeoutseconds: z.int().positive(),
  epochlength: z.int().positive(),
});
const fileSchema = z.object({
  config: z.object({
    chainId: z.int().positive(),
    ibft2: bft,
    terminalTotalDifficulty: z.unknown().optional(),
  }),
  extraData: z.string(),
  alloc: z.record(z.string(), z.object({ balance: z.string().default("0x0") })),
});

/** Reads a genesis file of IBFT 2.0 as far as the stand-in needs it; throws where Besu would not start with it. */
export function readGenesis(file: string, options: Options): StandInGenesis {
  const json: unknown = JSON.parse(readFileSync(file, "utf8"));
  const parsed = fileSchema.safeParse(json);
  if (!parsed.success) {
    throw new Error(
      `Unable to load genesis file. ${parsed.error.issues[0]?.path.join(".")} is missing or wrong`,
    );
  }
  const { config, extraData, alloc } = parsed.data;
  // MiningOptions.validate in Besu: the milliseconds are for networks with a transition to proof of stake.
  if (options.has("block-txs-selection-max-time") && config.terminalTotalDifficulty === undefined) {
    throw new Error(
      "--block-txs-selection-max-time is not compatible with pure PoA networks, see --poa-block-txs-selection-max-time instead",
    );
  }
  const decoded = decodeExtraData(extraData);
  if ("problem" in decoded) throw new Error(`Unable to load genesis file. ${decoded.problem}`);
  if (decoded.extraData.consensus !== "ibft2" || decoded.extraData.validators.length === 0) {
    throw new Error("Unable to load genesis file. extraData is not of IBFT 2.0, or names no validator");
  }
  const block = genesisBlock(json);
  if (block === undefined)
    throw new Error("Unable to load genesis file. The stand-in knows only forks up to Cancun");
  return {
    chainId: config.chainId,
    block,
    balances: new Map(
      Object.entries(alloc).map(([key, { balance }]) => [
        `0x${key.replace(/^0x/, "").toLowerCase()}`,
        BigInt(balance),
      ]),
    ),
    blockMs: config.ibft2.blockperiodseconds * 1000,
    requestTimeoutMs: config.ibft2.requesttimeoutseconds * 1000,
    epochBlocks: config.ibft2.epochlength,
    validators: [...decoded.extraData.validators].sort(),
  };
}
