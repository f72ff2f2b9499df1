/** What went wrong, in a word for a message: the code of an error of the system (`ENOENT`), or else the error's text. */
export function errorCode(error: unknown): string {
  if (error instanceof Error && "code" in error) return String(error.code);
  return error instanceof Error ? error.message : String(error);
}
