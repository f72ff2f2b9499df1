/** The schemas of the index and of what merchants bought and were paid, as numbered files. */
export const migrationsFolder = new URL("migrations/", import.meta.url);
