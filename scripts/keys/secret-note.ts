/** The secret alone on stdout, so that it can be piped; on stderr that this is the only time. */
export function handOutSecret({
  secret,
  print,
  note,
}: {
  secret: string;
  print: (text: string) => void;
  note: (text: string) => void;
}): void {
  note("The secret follows. It is shown this once and cannot be shown again; pass it on by a safe way.");
  print(secret);
}
