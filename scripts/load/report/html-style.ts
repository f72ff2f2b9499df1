/** The page's whole style. Colours keep a contrast of 4.5 to 1 on their ground in both schemes. */
export const reportStyle = `
:root {
  --ground: #ffffff; --text: #1b1f24; --soft: #57606a; --edge: #d0d7de; --panel: #f6f8fa;
  --one: #0b5cad; --two: #a8480a; --three: #b3142d; --good: #17692e; --warn: #8a4b00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1419; --text: #e6edf3; --soft: #9aa7b4; --edge: #38424d; --panel: #171e26;
    --one: #6cb2ff; --two: #f5a35c; --three: #ff8593; --good: #63d283; --warn: #f2b457;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 920px; margin: 0 auto; padding: 16px; }
h1 { font-size: 24px; margin: 8px 0 0; }
h2 { font-size: 18px; margin: 28px 0 8px; }
p { margin: 4px 0 12px; overflow-wrap: anywhere; color: var(--soft); }
ul { margin: 4px 0; padding-left: 20px; }
.verdict, .notes { border: 1px solid var(--edge); border-left-width: 5px; border-radius: 4px; padding: 8px 12px; margin: 12px 0; }
.kept { border-left-color: var(--good); } .kept strong { color: var(--good); }
.missed { border-left-color: var(--three); } .missed strong { color: var(--three); }
.notes { border-left-color: var(--warn); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: 8px; margin: 12px 0; }
.tiles div { background: var(--panel); border: 1px solid var(--edge); border-radius: 4px; padding: 8px 12px; }
dt { color: var(--soft); font-size: 13px; } dd { margin: 0; font-weight: 600; font-size: 17px; }
figure { margin: 20px 0; } figcaption { font-weight: 600; margin-bottom: 4px; }
svg { display: block; width: 100%; height: auto; }
text { fill: var(--soft); font-size: 13px; }
.grid { stroke: var(--edge); stroke-width: 1; }
.line { fill: none; stroke-width: 2; }
.line.one { stroke: var(--one); } .line.two { stroke: var(--two); } .line.three { stroke: var(--three); }
.mark { fill: transparent; }
.mark.one:hover { fill: var(--one); } .mark.two:hover { fill: var(--two); } .mark.three:hover { fill: var(--three); }
.legend { font-weight: 400; font-size: 13px; margin-left: 10px; white-space: nowrap; }
.legend::before { content: ""; display: inline-block; width: 14px; height: 3px; margin-right: 5px; vertical-align: middle; background: currentColor; }
.legend.one { color: var(--one); } .legend.two { color: var(--two); } .legend.three { color: var(--three); }
.scroll { overflow-x: auto; border: 1px solid var(--edge); border-radius: 4px; }
.scroll:focus-visible { outline: 2px solid var(--one); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { text-align: left; padding: 5px 10px; border-top: 1px solid var(--edge); vertical-align: top; }
thead th { border-top: 0; background: var(--panel); }
tbody tr:first-child th, tbody tr:first-child td { border-top: 0; }
tbody th { font-weight: 500; white-space: nowrap; }
td { overflow-wrap: anywhere; min-width: 70px; }
.errors td:last-child { min-width: 260px; }
@media (max-width: 480px) { text { font-size: 22px; } }
`;
