import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createChainState } from "./chain-state.ts";
import { keepChain } from "./keep-chain.ts";
import type { Service } from "./service.ts";
import { startAnvil } from "./start-anvil.ts";

const chainId = 8845;
const blockTimeSeconds = 2;
const endWithinMs = 1000;

/** The dev chain: one anvil on loopback that resumes what `.data/anvil` holds. */
export function chainService({ port }: { port: number }): Service {
  return {
    name: "chain",
    ports: [
      {
        host: "127.0.0.1",
        port,
        owner: "the dev chain",
        changeWith: "another: npm start -- --chain-port PORT",
      },
    ],
    async start({ env, data, addresses, say, childLine, adopt, onStop }) {
      const folder = data.chain;
      const state = createChainState({ folder, say });
      const loaded = await state.load();
      if (loaded.kind === "unreadable") return { failed: loaded.text };
      // States of a run that was killed: no later run reads them.
      const cacheFolder = join(folder, "cache");
      await rm(cacheFolder, { recursive: true, force: true });
      onStop(() => rm(cacheFolder, { recursive: true, force: true }));

      const anvil = await startAnvil({
        ...{ env, port, chainId, blockTimeSeconds, cacheFolder },
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
      return { rows: [{ name: "chain", address: anvil.url, data: folder }], child: anvil.child };
    },
  };
}
