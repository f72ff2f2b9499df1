import { CommandError } from "../../lib/cli/command.ts";
import { didYouMean, nearest } from "../../lib/cli/nearest.ts";
import { checkApiKey } from "../../lib/keys/api-key.ts";
import type { KeyRecord } from "../../lib/keys/key-record.ts";
import type { KeyStore } from "../../lib/keys/key-store.ts";

/** The key of an id, or a CommandError that suggests the nearest one. */
export async function findKey(store: KeyStore, id: string): Promise<KeyRecord> {
  return (await store.show(id)) ?? (await failUnknownKey(store, id));
}

export async function failUnknownKey(store: KeyStore, id: string): Promise<never> {
  // A secret that was pasted here by mistake must not appear in a log.
  if (checkApiKey(id) !== "foreign") {
    throw new CommandError("That is a key's secret. Here its id is wanted, k_… : see npm run keys -- list.", {
      exitCode: 2,
    });
  }
  const { keys, corrupt } = await store.list();
  const guess = nearest(
    id,
    [...keys, ...corrupt].map((key) => key.id),
  );
  const hint = guess === undefined ? "npm run keys -- list shows all." : `Did you mean ${guess}?`;
  throw new CommandError(`There is no key ${id}. ${hint}`, { exitCode: 1 });
}

/** Says that a team is missing, suggests the nearest one, and says how to make it. */
export async function failUnknownTeam(store: KeyStore, name: string): Promise<never> {
  const { teams, corrupt } = await store.listTeams();
  const guess = nearest(
    name,
    [...teams, ...corrupt].map((team) => team.name),
  );
  throw new CommandError(
    `There is no team "${name}".${didYouMean(guess)} A new one: npm run keys -- team set ${name}`,
    {
      exitCode: 1,
    },
  );
}
