import { readFileSync } from "node:fs";

const shared = new URL("../../../lib/web/assets/", import.meta.url);
const sheets = ["tokens.css", "page.css", "content.css"];

/** What reports have beside the look of all pages. Lines differ by their dashes too, not by colour alone. */
const own = `
:root { --one: #2b55e0; --two: #a8480a; --three: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --one: #86a8ff; --two: #f5a35c; --three: #ff9d94; } }
main { padding-top: 1rem; }
.kept, .missed, .notes { border-inline-start: 5px solid var(--soft); }
.kept { border-inline-start-color: var(--good); } .kept h2 { color: var(--good); }
.missed { border-inline-start-color: var(--bad); } .missed h2 { color: var(--bad); }
ul { margin: 0.25rem 0; padding-inline-start: 1.25rem; overflow-wrap: anywhere; }
figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: 0.25rem; }
figure + figure { margin-top: 1.5rem; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 13px; }
.grid { stroke: var(--line); stroke-width: 1; }
.line { fill: none; stroke-width: 2; }
.line.one { stroke: var(--one); }
.line.two { stroke: var(--two); stroke-dasharray: 7 3; }
.line.three { stroke: var(--three); stroke-dasharray: 2 3; }
.bar.one { fill: var(--one); } .bar.two { fill: var(--two); } .bar.three { fill: var(--three); }
.mark { fill: transparent; }
.mark.one:hover { fill: var(--one); } .mark.two:hover { fill: var(--two); } .mark.three:hover { fill: var(--three); }
.legend { font-weight: 400; font-size: var(--small); margin-inline-start: 0.6rem; white-space: nowrap; }
.legend::before { content: ""; display: inline-block; width: 18px; margin-inline-end: 5px; vertical-align: middle; border-top: 3px solid currentColor; }
.legend.one { color: var(--one); } .legend.two { color: var(--two); } .legend.three { color: var(--three); }
.legend.two::before { border-top-style: dashed; } .legend.three::before { border-top-style: dotted; }
.wide td:last-child { min-width: 18rem; white-space: normal; overflow-wrap: anywhere; }
.intro p { overflow-wrap: anywhere; }
@media (max-width: 480px) { svg text { font-size: 22px; } svg.bars text { font-size: 15px; } }
`;

/** The style of a report: that of all pages, and its own. */
export function readReportStyle(): string {
  return [...sheets.map((name) => readFileSync(new URL(name, shared), "utf8")), own].join("\n");
}
