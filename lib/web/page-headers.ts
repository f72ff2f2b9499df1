/**
 * The headers of a page that takes nothing from outside and has nothing inline. Nobody may put it into a frame and have
 * its buttons pressed.
 */
export function pageHeaders({
  formsTo = "nobody",
  dataImages = false,
}: {
  /** Where forms may be sent. */
  formsTo?: "self" | "nobody";
  /** Lets images in as `data:`, in which no script can run. */
  dataImages?: boolean;
} = {}): { "Content-Security-Policy": string; "Referrer-Policy": string } {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self'${dataImages ? " data:" : ""}`,
    "connect-src 'self'",
    `form-action ${formsTo === "self" ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
  return { "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer" };
}
