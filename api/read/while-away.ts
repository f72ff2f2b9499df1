import { isPostgresFailure } from "../../lib/postgres/postgres-failure.ts";

/** What the chain says goes on while the index is away: `instead` stands for what the index would add. */
export async function whileAway<Found>(reading: Promise<Found>, instead: Found): Promise<Found> {
  try {
    return await reading;
  } catch (error) {
    if (isPostgresFailure(error)) return instead;
    throw error;
  }
}
