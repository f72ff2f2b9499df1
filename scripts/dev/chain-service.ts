import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { network } from "../../lib/network.ts";
import { type RunningAnvil, startAnvil } from "../processes/start-anvil.ts";
import { createChainState } from "./chain-state.ts";
import { keepChain } from "./keep-chain.ts";
import type { Service } from "./service.ts";

const endWithinMs = 1000;

/**
 * The dev chain: one anvil on a free loopback port, which resumes the chain in `.data/anvil`. The gateway and the faucet
 * call it there. Others use the internal RPC, since anvil checks neither Host nor Origin.
 */
export function chainService(): Service {
  return {
    name: "chain",
    ports: [],
    async start({ env, data, addresses, say, childLine, adopt, onStop }) {
      const folder = data.chain;
      const state = createChainState({ folder, say });
      const loaded = await state.load();
      if (loaded.kind === "unreadable") return { failed: loaded.text };
      // No later run reads the states of a killed run.
      const cacheFolder = join(folder, "cache");
      await rm(cacheFolder, { recursive: true, force: true });
      onStop(() => rm(cacheFolder, { recursive: true, force: true }));

      const { chainId, blockTimeSeconds } = network;
      const genesisFile = join(folder, "genesis-time");
      const genesisTimestampSeconds =
        loaded.kind === "resumed" ? await readGenesisTime(genesisFile) : undefined;
      const anvil = await startAnvil({
        env,
        port: 0,
        chainId,
        blockTimeSeconds,
        cacheFolder,
        ...(loaded.kind === "resumed" ? { loadFile: loaded.file } : {}),
        ...(genesisTimestampSeconds === undefined ? {} : { genesisTimestampSeconds }),
        onLine: (line) => childLine("chain", line),
        onChild: (child) => adopt(child, { endWithinMs }),
      });
      await state.dropLoaded();
      if ("failed" in anvil) {
        return loaded.kind === "new"
          ? anvil
          : {
              failed: `${anvil.failed}\nWhere it is the saved chain that anvil refuses: npm start -- --reset`,
            };
      }
      const keeper = keepChain({ anvil, state, say });
      onStop(keeper.stop);
      try {
        // A genesis in the past sets anvil's clock back by as much.
        if (genesisTimestampSeconds !== undefined) await anvil.rpc("evm_setTime", [Date.now()]);
        await writeFile(genesisFile, `${await genesisTimeOf(anvil)}\n`);
      } catch (error) {
        return { failed: `the dev chain cannot be asked: ${error instanceof Error ? error.message : error}` };
      }
      // The faucet and the API remember the genesis block: a start that is killed early must not leave them another one.
      if (loaded.kind === "new") await keeper.save();
      addresses.chain = anvil.url;
      addresses.upstreams = anvil.url;
      return { rows: [{ name: "chain", address: anvil.url, data: folder }], child: anvil.child };
    },
  };
}

/**
 * The genesis block's time, which alone decides its hash. anvil adds a genesis block of its own to a loaded chain,
 * saves both, and picks either one at the next start. With the same time both are equal.
 */
async function readGenesisTime(file: string): Promise<number | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  return /^\d{1,12}\n$/.test(text) ? Number(text) : undefined;
}

const genesisBlock = z.object({ timestamp: z.string().regex(/^0x[0-9a-f]{1,10}$/) });

async function genesisTimeOf(anvil: RunningAnvil): Promise<number> {
  return Number(genesisBlock.parse(await anvil.rpc("eth_getBlockByNumber", ["0x0", false])).timestamp);
}
