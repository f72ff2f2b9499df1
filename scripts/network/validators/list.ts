import { json, table } from "../../../lib/cli/format.ts";
import type { NetworkCommand } from "../command.ts";
import { currentStatus } from "../show-status.ts";
import { openPost } from "./change.ts";
import { quorumFacts, quorumText } from "./quorum-words.ts";

export const listCommand: NetworkCommand = {
  name: "validator list",
  positionals: [],
  summary: "Shows who validates, who proposed and sealed lately, and which votes wait.",
  details: [
    "The set is that of the newest header. A vote that waits is one that a node was told and not yet told to forget.",
  ],
  options: {},
  examples: ["validator list --native"],
  async run(input) {
    const { nodes, manifest, print } = input;
    const status = await currentStatus(input);
    const post = await openPost(input, input);
    const rows = await Promise.all(
      status.validators.map(async ({ name, address, state, inSet, proposed, lastProposed, missedSeals }) => {
        const node = nodes.list.find((candidate) => candidate.name === name);
        const votes = node === undefined || state !== "up" ? undefined : await post.pending(node);
        return { name, address, state, inSet, proposed, lastProposed, missedSeals, votes: votes ?? null };
      }),
    );
    const former = (manifest.formerValidators ?? []).map(({ name, address }) => ({ name, address }));
    const { height, members, blocks } = status;
    if (input.json) {
      print(json({ height, ...quorumFacts(members), blocks, rows, former }));
      return height === null ? 1 : 0;
    }
    print(listText({ height, members, blocks, rows, former }));
    return height === null ? 1 : 0;
  },
};

type Row = {
  name: string;
  address: string;
  state: string;
  inSet: boolean;
  proposed: number;
  lastProposed: number | null;
  missedSeals: number;
  votes: Readonly<Record<string, boolean>> | null;
};

function listText({
  height,
  members,
  blocks,
  rows,
  former,
}: {
  height: number | null;
  members: number;
  blocks: number;
  rows: readonly Row[];
  former: readonly { name: string; address: string }[];
}): string {
  const nameOf = (address: string) => rows.find((row) => row.address === address)?.name ?? address;
  const votesText = (votes: Row["votes"]) =>
    Object.entries(votes ?? {})
      .map(([address, add]) => `${add ? "for" : "against"} ${nameOf(address)}`)
      .join(", ") || "-";
  return [
    height === null
      ? "No node answers: who validates is not known."
      : `Block ${height}. ${quorumText(members)}`,
    "",
    table(
      [
        "NODE",
        "ADDRESS",
        "VALIDATES",
        "STATE",
        "PROPOSED",
        "LAST PROPOSED",
        "MISSED SEALS",
        "VOTES THAT WAIT",
      ],
      rows.map((row) => [
        row.name,
        row.address,
        height === null ? "-" : row.inSet ? "yes" : "no",
        row.state,
        String(row.proposed),
        row.lastProposed === null ? "-" : String(row.lastProposed),
        String(row.missedSeals),
        votesText(row.votes),
      ]),
    ),
    "",
    `Counted in the last ${blocks} blocks.`,
    ...former.map(({ name, address }) => `${name} (${address}) was a validator.`),
  ].join("\n");
}
