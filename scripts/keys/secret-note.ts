/** The secret alone on stdout, so that it can be piped. stderr says that it is shown once only. */
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
