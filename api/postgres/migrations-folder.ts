/** The schema of the index, as numbered files. */
export const migrationsFolder = new URL("migrations/", import.meta.url);
