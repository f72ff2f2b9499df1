import type { Page } from "playwright-core";

/** What goes wrong in a page, as it happens: errors of its scripts, rules that are broken, other origins that are asked. */
export function recordProblems(
  page: Page,
  { url, isExpected = () => false }: { url: string; isExpected?: (message: string) => boolean },
): readonly string[] {
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("console", (message) => {
    if (message.type() === "error" && !isExpected(message.text())) problems.push(message.text());
  });
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== url && protocol !== "data:") problems.push(`asked ${request.url()}`);
  });
  return problems;
}
