import type { Readable } from "node:stream";
import { CommandError } from "../../../lib/cli/command.ts";
import { commandLike } from "../../network/command-like.ts";
import { whyNoneToSpare } from "../../network/none-to-spare.ts";
import { currentStatus } from "../../network/show-status.ts";
import { runningVersion } from "../../network/upgrade/besu-version.ts";
import { watchNode } from "../../network/upgrade/watch-node.ts";
import { withChangeLock } from "../../network/validators/change-lock.ts";
import type { BackupManifest, BackupPart } from "../archive/manifest.ts";
import type { PartSource } from "../archive/take-backup.ts";
import type { CommandInput } from "../command.ts";
import { packBy, packFolder, packWords } from "./tar.ts";
import type { ValidatorPlace } from "./validator-network.ts";

/** Besu's own name for a key that it made itself. Ours lies elsewhere, and is saved with the keys. */
const withoutKey = ["./key"];
/** It fetches what was made meanwhile. */
const backWithinMs = 900_000;

type ValidatorFacts = Extract<BackupPart, { name: "validator" }>["facts"];

export type ValidatorSource = {
  pack: () => Promise<{ source: Readable; facts: ValidatorFacts }>;
  around: NonNullable<PartSource["around"]>;
  chain: BackupManifest["chain"];
  /** Why the validator is not back in step, once it should be. */
  trouble: () => string | undefined;
};

/**
 * A validator's database, which is of one moment only while nobody writes it. So the validator is stopped, packed and started again, whatever
 * happens meanwhile, and waited for until it is in step with the others. One that is down stays down.
 */
export function validatorSource(place: ValidatorPlace, note: CommandInput["note"]): ValidatorSource {
  const { network, node, data } = place;
  const { name } = node;
  const { manifest, nodes, signal } = network;
  let facts: ValidatorFacts = { validator: name, height: 0, besu: "" };
  let trouble: string | undefined;

  /** @returns why it is not back. */
  async function startAgain(): Promise<string | undefined> {
    const why = (await nodes.obstacles([name])).join("\n") || (await nodes.start([name]))?.failed;
    if (why !== undefined)
      return `${name} could not be started again: ${why}\nStart it: npm run network -- ${commandLike(network, `start ${name.replace("validator-", "")}`)}`;
    note(`${name} is started again.`);
    return undefined;
  }

  return {
    chain: { chainId: manifest.chainId, genesisHash: manifest.genesisHash },
    trouble: () => trouble,

    around: (take) =>
      withChangeLock(network.folder, async () => {
        const status = await currentStatus(network);
        const row = status.validators.find((one) => one.name === name);
        facts = {
          ...facts,
          height: row?.height ?? 0,
          besu: (await runningVersion(node.rpcUrl)) ?? "",
        };
        if (!(await nodes.isRunning(name))) return take();
        const refused = whyNoneToSpare(network, status, {
          underway: undefined,
          what: "a backup of a validator's data",
        });
        if (refused !== undefined) throw new CommandError(refused.failed, { exitCode: 1 });
        note(`${name} is stopped, at block ${facts.height}. The others go on without it.`);
        let part: BackupPart;
        try {
          await nodes.stop(name);
          part = await take();
        } catch (error) {
          const why = await startAgain();
          if (why !== undefined) note(why);
          throw error;
        }
        trouble = await startAgain();
        if (trouble !== undefined) return part;
        const judged = await watchNode(network, {
          ...{ nodes, node, version: undefined },
          ...{ syncWithinMs: backWithinMs, watchMs: 0 },
        });
        if (judged.fit) note(`${name} is in step again, at block ${judged.height}.`);
        else trouble = `${name} ${"why" in judged ? judged.why : "was not waited for"}.`;
        return part;
      }),

    async pack() {
      signal.throwIfAborted();
      const source =
        data.kind === "folder"
          ? packFolder(data.folder, { without: withoutKey })
          : packBy(data.beside(packWords({ folder: data.folder, without: withoutKey })));
      signal.addEventListener("abort", () =>
        source.destroy(new CommandError("Interrupted: no backup was taken.", { exitCode: 1 })),
      );
      return { source, facts };
    },
  };
}
