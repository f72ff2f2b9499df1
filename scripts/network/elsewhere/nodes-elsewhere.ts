import type { Manifest } from "../../../genesis/manifest.ts";
import { CommandError } from "../../../lib/cli/command.ts";
import { askNode } from "../chain/ask-node.ts";
import type { Nodes } from "../nodes.ts";

/** Stands for a validator's number in `--at`. No host's name has it: they are in lower case. */
const placeholder = "N";
const answerWithinMs = 2000;

/**
 * Validators that something else runs, such as Kubernetes: they are asked at `at` (`http://127.0.0.1:250N`), and nobody here starts or
 * stops them. One that does not answer counts as stopped.
 *
 * @throws CommandError where `at` is no such address.
 */
export function openNodesElsewhere({ manifest, at }: { manifest: Manifest; at: string }): Nodes {
  const list = manifest.validators.map(({ name, address }) => ({ name, address, rpcUrl: urlOf(at, name) }));
  const find = (name: string) => list.find((node) => node.name === name);
  const runsElsewhere = (names: readonly string[], verb: string) =>
    new CommandError(
      `${names.join(", ")} runs elsewhere, and is ${verb} there: docs/kubernetes.md tells how in Kubernetes.`,
      { exitCode: 1 },
    );
  const notHere = (name: string, verb: string) => Promise.reject(runsElsewhere([name], verb));

  return {
    list,
    obstacles: async (names) =>
      names.map(
        (name) =>
          `${name} does not answer at ${find(name)?.rpcUrl ?? at}: start it where it runs (docs/kubernetes.md), then run this again.`,
      ),
    async isRunning(name) {
      const url = find(name)?.rpcUrl;
      if (url === undefined) return false;
      const answers = await askNode(url, [{ method: "eth_chainId" }], { timeoutMs: answerWithinMs });
      return answers !== undefined;
    },
    // Whether it started anew nobody here can see.
    identityOf: async () => undefined,
    besu: {
      track: "besuImage",
      look: () => Promise.reject(runsElsewhere(["Besu"], "upgraded")),
      runs: async () => false,
    },
    start: (names) => Promise.reject(runsElsewhere(names, "started")),
    stop: (name) => notHere(name, "stopped"),
    wipe: (name) => notHere(name, "wiped"),
    logs: ({ name }) => notHere(name, "looked at"),
  };
}

function urlOf(at: string, name: string): string {
  const url = at.replace(placeholder, name.slice("validator-".length));
  const isAddress = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (at.includes(placeholder) && isAddress) return url;
  throw new CommandError(
    `--at: an address with N in place of a validator's number was expected, such as http://127.0.0.1:250N, got "${at}".`,
    { exitCode: 2 },
  );
}
