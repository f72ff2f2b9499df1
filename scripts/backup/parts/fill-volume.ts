import type { Readable } from "node:stream";
import { CommandError } from "../../../lib/cli/command.ts";
import type { NodeData } from "../../network/nodes.ts";
import { runToEnd } from "./run-to-end.ts";
import { unpackBy, unpackWords } from "./tar.ts";

const staging = ".restoring";

/**
 * Fills a container's volume that is empty, as `fillEmptyFolder` does with a folder: what is unpacked lies in a folder inside until all of it is
 * there. Its programs are the container's own: sh, ls, mkdir, mv, rm and tar.
 *
 * @throws CommandError where something is in the volume. It is left as it is.
 */
export async function fillEmptyVolume({
  data: { folder, beside },
  name,
  fill,
}: {
  data: Extract<NodeData, { kind: "volume" }>;
  /** The validator's, for messages. */
  name: string;
  fill: (sink: (plain: Readable) => Promise<void>) => Promise<void>;
}): Promise<void> {
  const staged = `${folder}/${staging}`;
  const shell = async (script: string) => {
    const ended = await runToEnd(beside(["sh", "-c", script]));
    if (ended.code !== 0)
      throw new CommandError(`The volume of ${name} cannot be written: ${ended.err || ended.out}`, {
        exitCode: 1,
      });
    return ended.out.trim();
  };
  const found = await shell(
    `ls -A ${folder} | grep -vxF -e lost+found -e ${staging} | head -n 3; rm -rf ${staged} && mkdir -m 700 ${staged}`,
  );
  if (found !== "") {
    throw new CommandError(
      `The volume of ${name} is not empty (${found.split("\n").join(", ")}). Nothing is restored over it.`,
      { exitCode: 1 },
    );
  }
  try {
    await fill((plain) => unpackBy(beside(unpackWords(staged)), plain));
    await shell(
      `cd ${staged} && for name in $(ls -A); do mv "$name" ..; done && cd .. && rmdir ${staging} && sync`,
    );
  } catch (error) {
    await shell(`rm -rf ${staged}`).catch(() => {});
    throw error;
  }
}
