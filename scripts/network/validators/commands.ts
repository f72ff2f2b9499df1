import { json } from "../../../lib/cli/format.ts";
import type { CommandInput, ExitCode, NetworkCommand } from "../command.ts";
import { currentStatus } from "../show-status.ts";
import { type Added, additionPlan, addValidator, whyUnsafe } from "./add-validator.ts";
import { type NotChanged, tellQuorum, validatorName, whyStalled } from "./change.ts";
import { withChangeLock } from "./change-lock.ts";
import { quorumFacts, quorumText } from "./quorum-words.ts";
import { findRow, type Removed, removalPlan, removeValidator, whyNeeded } from "./remove-validator.ts";

const dryRun = { "dry-run": { text: "says what would be done, and does nothing" } } as const;
const deleteData = {
  "delete-data": { text: "removes the chain and the key of the one that leaves" },
} as const;
const resumes = "Run again after it was interrupted, it goes on where it was.";

export const addCommand: NetworkCommand = {
  name: "validator add",
  positionals: ["NAME"],
  summary: "Makes a node and has the validators vote it in.",
  details: [
    "A key, a node that has fetched the chain, the votes of more than half, its first block. Refused while the chain stands, and where the",
    `chain would stand with one validator more. ${resumes}`,
  ],
  options: dryRun,
  examples: ["validator add validator-6 --native", "validator add 6 --dry-run"],
  run: (input) => {
    const name = validatorName(input.positionals[0] ?? "");
    return isDry(input)
      ? planAddition(input, name)
      : locked(input, async () => tellAdded(input, await addValidator(input, name)));
  },
};

export const removeCommand: NetworkCommand = {
  name: "validator remove",
  positionals: ["NAME"],
  summary: "Has the validators vote one out, and stops its node.",
  details: [
    "NAME is a validator of `validator list`, or the address of one that is none of our nodes. Refused where those that are left and take part",
    `would be fewer than have to seal a block. Its key and its chain stay unless --delete-data is given. ${resumes}`,
  ],
  options: { ...dryRun, ...deleteData },
  examples: ["validator remove 3 --native", "validator remove 3 --delete-data"],
  run: (input) => {
    const name = nameOrAddress(input.positionals[0] ?? "");
    const deletes = input.values["delete-data"] === true;
    if (isDry(input)) return planRemoval(input, name, deletes);
    return locked(input, async () =>
      tellRemoved(input, await removeValidator(input, name, { deleteData: deletes })),
    );
  },
};

export const replaceCommand: NetworkCommand = {
  name: "validator replace",
  positionals: ["OLD", "NEW"],
  summary: "Adds NEW, then removes OLD.",
  details: [
    "Never the other way round: with OLD away first, one validator less could be down meanwhile. Both have to be possible before either is",
    `begun. ${resumes}`,
  ],
  options: { ...dryRun, ...deleteData },
  examples: ["validator replace 3 6 --native"],
  async run(input) {
    const [old, next] = [
      nameOrAddress(input.positionals[0] ?? ""),
      validatorName(input.positionals[1] ?? ""),
    ];
    if (old === next) return fail(input, { failed: `${old} cannot take its own place.`, code: 2 });
    const deletes = input.values["delete-data"] === true;
    if (isDry(input)) return planReplacement(input, { old, next, deletes });
    return locked(input, async () => {
      const refused = whyNotReplaced(input, await currentStatus(input), { old, next });
      if (refused !== undefined) return fail(input, refused);
      const added = await addValidator(input, next);
      if ("failed" in added) return fail(input, added);
      const reopened = { ...input, ...(await input.reopen()) };
      return tellReplaced(input, added, await removeValidator(reopened, old, { deleteData: deletes }));
    });
  },
};

async function planAddition(input: CommandInput, name: string): Promise<ExitCode> {
  const status = await currentStatus(input);
  if (status.validators.some((row) => row.name === name && row.inSet))
    return fail(input, { failed: `${name} is a validator already.`, code: 0 });
  const refused = whyStalled(input, status) ?? whyUnsafe(status, name);
  if (refused !== undefined) return fail(input, refused);
  return tellPlan(input, status.members, status.members + 1, additionPlan(input, name));
}

async function planRemoval(input: CommandInput, name: string, deletes: boolean): Promise<ExitCode> {
  const status = await currentStatus(input);
  const row = findRow(input, status, name);
  if (row === undefined) return fail(input, { failed: `${name} is no validator any more.`, code: 0 });
  const refused = row.inSet ? (whyStalled(input, status) ?? whyNeeded(input, status, row)) : undefined;
  if (refused !== undefined) return fail(input, refused);
  const after = status.members - (row.inSet ? 1 : 0);
  return tellPlan(input, status.members, after, removalPlan(name, { deleteData: deletes }));
}

async function planReplacement(
  input: CommandInput,
  { old, next, deletes }: { old: string; next: string; deletes: boolean },
): Promise<ExitCode> {
  const status = await currentStatus(input);
  const refused = whyNotReplaced(input, status, { old, next });
  if (refused !== undefined) return fail(input, refused);
  const steps = [...additionPlan(input, next), ...removalPlan(old, { deleteData: deletes })];
  return tellPlan(input, status.members, status.members, steps);
}

/** Both halves of a replacement have to be possible before the first is begun. */
function whyNotReplaced(
  input: CommandInput,
  status: Awaited<ReturnType<typeof currentStatus>>,
  { old, next }: { old: string; next: string },
): NotChanged | undefined {
  const row = findRow(input, status, old);
  const stalled = whyStalled(input, status);
  if (stalled !== undefined) return stalled;
  const isIn = status.validators.some(({ name, inSet }) => name === next && inSet);
  const unsafe = isIn ? undefined : whyUnsafe(status, next);
  if (unsafe !== undefined || row === undefined || !row.inSet) return unsafe;
  const [members, present] = isIn
    ? [status.members, status.present]
    : [status.members + 1, status.present + 1];
  return whyNeeded(input, { members, present }, row);
}

function tellPlan(
  { json: asJson, print }: CommandInput,
  before: number,
  after: number,
  steps: readonly string[],
): ExitCode {
  if (asJson) print(json({ before: quorumFacts(before), after: quorumFacts(after), steps }));
  else {
    tellQuorum(print, before, after);
    print(steps.map((step, index) => `${index + 1}. ${step}`).join("\n"));
  }
  return 0;
}

function tellAdded(input: CommandInput, added: Added | NotChanged): ExitCode {
  if ("failed" in added) return fail(input, added);
  if (input.json) input.print(json({ added: [added] }));
  else if (!added.changed) input.print(`${added.name} is a validator already; nothing was changed.`);
  else
    input.print(
      `${added.name} validates: block ${added.firstProposed} is its first. ${quorumText(added.members)}`,
    );
  if (added.changed) tellServices(input);
  return 0;
}

function tellRemoved(input: CommandInput, removed: Removed | NotChanged): ExitCode {
  if ("failed" in removed) return fail(input, removed);
  if (input.json) input.print(json({ removed: [removed] }));
  else if (!removed.changed) input.print(`${removed.name} is no validator any more; nothing was changed.`);
  else input.print(`${removed.name} validates no longer. ${quorumText(removed.members)}`);
  if (removed.changed) tellServices(input);
  return 0;
}

function tellReplaced(input: CommandInput, added: Added, removed: Removed | NotChanged): ExitCode {
  if ("failed" in removed) return fail(input, removed);
  if (input.json) input.print(json({ added: [added], removed: [removed] }));
  else input.print(`${added.name} validates in the place of ${removed.name}. ${quorumText(removed.members)}`);
  if (added.changed || removed.changed) tellServices(input);
  return 0;
}

/** Containers that were started with the nodes of before; as processes of this machine there are none. */
function tellServices({ values, note }: CommandInput): void {
  if (values["native"] === true) return;
  note(
    "The gateway and the exporter know the nodes of their start: npm run network -- compose up --detach --no-deps --force-recreate --wait gateway (and network-exporter)",
  );
}

function fail({ note }: Pick<CommandInput, "note">, { failed, code }: NotChanged): ExitCode {
  note(failed);
  return code;
}

function locked(input: CommandInput, change: () => Promise<ExitCode>): Promise<ExitCode> {
  return withChangeLock(input.folder, change);
}

function isDry({ values }: CommandInput): boolean {
  return values["dry-run"] === true;
}

function nameOrAddress(word: string): string {
  return /^0x[0-9a-fA-F]{40}$/.test(word) ? word.toLowerCase() : validatorName(word);
}
