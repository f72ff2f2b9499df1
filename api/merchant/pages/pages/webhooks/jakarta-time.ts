/** Jakarta has no summer time. */
const offsetMs = 7 * 3_600_000;
const typed = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(?::\d{2}(?:\.\d{1,3})?)?$/;

/** What `<input type="datetime-local">` holds for a moment, by Jakarta's clock, to the minute. */
export function toJakartaTime(at: Date): string {
  return new Date(at.getTime() + offsetMs).toISOString().slice(0, 16);
}

/** The moment that was typed, in minutes; undefined where it is none. */
export function fromJakartaTime(text: unknown): Date | undefined {
  const [, minutes] = typeof text === "string" ? (typed.exec(text) ?? []) : [];
  const atMs = minutes === undefined ? Number.NaN : Date.parse(`${minutes}:00Z`) - offsetMs;
  return Number.isNaN(atMs) ? undefined : new Date(atMs);
}
