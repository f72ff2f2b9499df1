import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import t, { type Test } from "tap";
import { runCompare } from "../../../scripts/load/compare/run-compare.ts";
import { startChromium } from "../../helpers/chromium.ts";
import { load, writeMix } from "./load-rig.ts";
import { answerAll, startStubGateway } from "./stub-gateway.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

type Seen = {
  plots: { title: string; lines: number; points: number; height: number }[];
  bars: number;
  pageWidth: number;
  ground: string;
  text: string;
  images: number;
};

/** What a person would see of the page, as an expression for the browser. */
const look = `({
  bars: document.querySelectorAll("rect.bar").length,
  plots: [...document.querySelectorAll("figure:has(polyline)")].map((figure) => ({
    title: figure.querySelector("figcaption").textContent,
    lines: figure.querySelectorAll("polyline").length,
    points: Math.min(...[...figure.querySelectorAll("polyline")].map((line) => line.points.length)),
    height: figure.querySelector("svg").getBoundingClientRect().height,
  })),
  pageWidth: document.documentElement.scrollWidth,
  ground: getComputedStyle(document.body).backgroundColor,
  text: document.body.innerText,
  images: document.images.length,
})`;

const mixText = `
items:
  - { weight: 3, call: eth_getBalance, params: [$account, latest], expect: quantity }
  - { weight: 1, call: eth_blockNumber, expect: "null" }
  - name: <b>two & more</b>
    batch: [{ call: eth_gasPrice, expect: quantity }, { call: eth_chainId, expect: quantity }]
`;

/** A run with slow answers, errors and a threshold missed, and one compared with it: a page in a file each. */
async function writePages(t: Test): Promise<{ report: string; comparison: string }> {
  const stub = await startStubGateway(t, async (calls, exchange) => {
    // Every fiftieth is slow, so that the page has something to show.
    const slow = (calls[0]?.id ?? 0) % 50 === 0 ? 120 : 2;
    await new Promise((resolve) => setTimeout(resolve, slow));
    if ((calls[0]?.id ?? 0) % 70 === 0) {
      exchange.response.writeHead(503).end('<img src="http://127.0.0.1:9/x.png" onerror="alert(1)">');
      return undefined;
    }
    return answerAll(calls, exchange);
  });
  const mix = writeMix(t, mixText);
  const inFolder = (name: string) => join(dirname(mix), name);
  const file = inFolder("load.html");
  const outcome = await load([
    ...[
      "--url",
      stub.url,
      "--mix",
      mix,
      "--ramp",
      "50..200/3s",
      "--rate",
      "200",
      "--duration",
      "1s",
      "--html",
      file,
    ],
    ...["--max-p99", "1ms", "--max-error-rate", "50%", "--json", inFolder("a.json")],
  ]);
  const second = ["--url", stub.url, "--mix", mix, "--rate", "100", "--duration", "4s"];
  t.equal((await load([...second, "--json", inFolder("b.json")])).code, 0);
  const comparison = inFolder("compare.html");
  t.match(runCompare([inFolder("a.json"), inFolder("b.json"), "--html", comparison]), {
    exitCode: 0,
    err: "",
  });
  t.equal(outcome.code, 99);
  // A place to look at it by eye.
  const copy = process.env["LOAD_REPORT_COPY"];
  if (copy !== undefined) writeFileSync(copy, readFileSync(file));
  return { report: file, comparison };
}

t.test(
  "the page shows its plots and tables, asks for nothing, and fits a narrow screen in both schemes",
  async (t) => {
    const browser = await startChromium(t);
    if (browser === undefined) return;
    const { report, comparison } = await writePages(t);
    for (const [file, width, colorScheme] of [
      [report, 1200, "light"],
      [report, 360, "dark"],
      [comparison, 1200, "dark"],
      [comparison, 360, "light"],
    ] as const) {
      const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
      const said: string[] = [];
      const asked: string[] = [];
      page.on("console", (message) => said.push(message.text()));
      page.on("pageerror", (error) => said.push(error.message));
      page.on("request", (request) => asked.push(request.url()));
      const url = pathToFileURL(file).href;
      await page.goto(url, { waitUntil: "load" });
      t.strictSame(said, [], "nothing in the console");
      t.strictSame(asked, [url], "no request but for the page");
      const seen: Seen = await page.evaluate(look);
      const isReport = file === report;
      t.equal(seen.plots.length, isReport ? 3 : 4);
      t.ok(seen.bars >= 6, `${seen.bars} bars`);
      for (const { title, lines, points, height } of seen.plots) {
        t.ok(
          lines > 0 && points >= 4 && height > 100,
          `${title}: ${lines} lines, ${points} points, ${height} px high`,
        );
      }
      t.ok(seen.pageWidth <= width, `${seen.pageWidth} px wide on ${width}`);
      t.equal(seen.ground, colorScheme === "dark" ? "rgb(14, 17, 22)" : "rgb(245, 246, 248)", "its scheme");
      t.match(seen.text, isReport ? /Threshold missed/ : /Two load runs compared/);
      t.match(seen.text, /batch: <b>two & more<\/b>/);
      if (isReport) t.match(seen.text, /503.*onerror/s, "what came from the other side is text");
      else t.match(seen.text, /What else differs.*the plans differ/s);
      t.equal(seen.images, 0);
      await page.evaluate(axe);
      t.same(await page.evaluate("axe.run().then(({ violations }) => violations)"), []);
      const copy = process.env["LOAD_REPORT_COPY"];
      if (copy !== undefined)
        await page.screenshot({
          path: `${copy}.${isReport ? "report" : "compare"}.${width}.png`,
          fullPage: true,
        });
      await page.close();
    }
  },
);
