import { rm } from "node:fs/promises";
import { join } from "node:path";
import { network } from "../../lib/network.ts";
import { startAnvil } from "../processes/start-anvil.ts";
import { createChainState } from "./chain-state.ts";
import { keepChain } from "./keep-chain.ts";
import type { Service } from "./service.ts";

const endWithinMs = 1000;

/**
 * The dev chain: one anvil that resumes what `.data/anvil` holds, on a free loopback port. The gateway asks it there;
 * everybody else comes through the internal RPC, since anvil itself looks at no Host and no Origin.
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
      // States of a run that was killed: no later run reads them.
      const cacheFolder = join(folder, "cache");
      await rm(cacheFolder, { recursive: true, force: true });
      onStop(() => rm(cacheFolder, { recursive: true, force: true }));

      const { chainId, blockTimeSeconds } = network;
      const anvil = await startAnvil({
        env,
        port: 0,
        chainId,
        blockTimeSeconds,
        cacheFolder,
        ...(loaded.kind === "resumed" ? { loadFile: loaded.file } : {}),
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
      addresses.chain = anvil.url;
      addresses.upstreams = anvil.url;
      return { rows: [{ name: "chain", address: anvil.url, data: folder }], child: anvil.child };
    },
  };
}
