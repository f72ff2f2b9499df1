/** User and password of an address as the value of `Authorization` (RFC 7617); undefined where it has none. */
export function basicAuthorization(url: string): string | undefined {
  const { username, password } = new URL(url);
  if (username === "" && password === "") return undefined;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64")}`;
}

/** A `%` that begins no escape stands for itself: URLs may have one. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
