import type { z } from "zod";
import type { FieldError } from "../../lib/http-service/problem.ts";

/**
 * What zod found, as a problem document has it. `root` is where the value stands: `#/path` or `#/query` of a URL, nothing for
 * a body. Words are the schema's own; each of its fields has some, since zod's would show a library.
 */
export function fieldErrors({
  root,
  error,
  unknown,
}: {
  root: string;
  error: z.ZodError | undefined;
  /** What is said of a key that the schema does not have. */
  unknown: string;
}): FieldError[] {
  return (error?.issues ?? []).flatMap((issue) => {
    const path = issue.path.map((part) => `/${escapePointer(String(part))}`).join("");
    // Of a URL this is always an object: only a body can be something else.
    if (issue.code === "invalid_type" && path === "") {
      return [{ pointer: root, message: "A JSON object was expected" }];
    }
    if (issue.code !== "unrecognized_keys") return [{ pointer: `${root}${path}`, message: issue.message }];
    return issue.keys.map((key) => ({ pointer: `${root}${path}/${escapePointer(key)}`, message: unknown }));
  });
}

/** RFC 6901 section 3. */
function escapePointer(part: string): string {
  return part.replaceAll("~", "~0").replaceAll("/", "~1");
}
