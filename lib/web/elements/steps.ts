import { type Html, html } from "../html.ts";

/** The steps of something that takes a while, for an `ol.steps`: which are done, and which one it is at. */
export function stepItems(
  steps: readonly { key: string; name: string }[],
  /** The key of the step that was reached; of the last one, all is done. */
  reached: string | undefined,
  /** Whether reaching the last step is its end. */
  { endsAtLast = true }: { endsAtLast?: boolean } = {},
): Html[] {
  const at = steps.findIndex(({ key }) => key === reached);
  const isAllDone = endsAtLast && at === steps.length - 1;
  return steps.map(({ key, name }, index) => {
    const state = index < at || isAllDone ? "done" : index === at ? "now" : "todo";
    return html`<li data-step="${key}" data-state="${state}">${name}</li>`;
  });
}
