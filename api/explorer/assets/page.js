// What the explorer's pages do beyond their HTML: relative times, copy buttons, keys, and news of blocks. Every page is
// whole without it.

import { addCopyButtons } from "./copy.js";
import { say } from "./elements.js";

const { root = "./", live, retrySeconds } = document.body.dataset;

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** @param {number} seconds how long ago; less than nothing is still to come */
function ago(seconds) {
  if (seconds <= -day) return say("inDays", { n: Math.floor(-seconds / day) });
  if (seconds <= -hour) return say("inHours", { n: Math.floor(-seconds / hour) });
  if (seconds <= -minute) return say("inMinutes", { n: Math.floor(-seconds / minute) });
  // Clocks differ by some.
  if (seconds <= -5) return say("inSeconds", { n: Math.floor(-seconds) });
  if (seconds < 2) return say("now");
  if (seconds < minute) return say("seconds", { n: Math.floor(seconds) });
  if (seconds < hour) return say("minutes", { n: Math.floor(seconds / minute) });
  if (seconds < day) return say("hours", { n: Math.floor(seconds / hour) });
  return say("days", { n: Math.floor(seconds / day) });
}

/** How long ago a time is stands where the time stood; the time itself is shown when it is pointed at. */
function tellTimes() {
  for (const time of document.querySelectorAll("time")) {
    const absolute = time.dataset["absolute"] ?? time.textContent ?? "";
    time.dataset["absolute"] = absolute;
    time.title = absolute;
    const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000;
    const isFact = time.closest("dd") !== null;
    time.textContent = isFact ? `${absolute} (${ago(seconds)})` : ago(seconds);
  }
}

/** `/` goes to the search, `j` and `k` through the rows of the first list, the arrows to the neighbours of a block. */
function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    const { key, target, altKey, ctrlKey, metaKey } = event;
    if (altKey || ctrlKey || metaKey) return;
    const at = target instanceof HTMLElement ? target : document.body;
    if (at.matches("input, select, textarea")) return;
    // There the arrows scroll.
    const scrolls = at.matches(".scroll, pre");
    if (key === "/") {
      event.preventDefault();
      document.getElementById("q")?.focus();
    } else if (key === "j" || key === "k") moveInList(key === "j" ? 1 : -1);
    else if (key === "ArrowLeft" && !scrolls) follow("prev");
    else if (key === "ArrowRight" && !scrolls) follow("next");
  });
}

/** @param {1 | -1} step */
function moveInList(step) {
  const links = [...document.querySelectorAll("tbody tr")].flatMap((row) => row.querySelector("a") ?? []);
  const row = document.activeElement?.closest("tr");
  const at = links.findIndex((link) => link.closest("tr") === row);
  const next = at === -1 ? links[0] : links[Math.min(links.length - 1, Math.max(0, at + step))];
  if (next instanceof HTMLElement) next.focus();
}

/** @param {"prev" | "next"} rel */
function follow(rel) {
  const link = document.head.querySelector(`link[rel="${rel}"]`);
  if (link instanceof HTMLLinkElement) location.assign(link.href);
}

/** Tells how many blocks came since the page was made, without moving what somebody reads. */
function watchBlocks() {
  const seen = { blocks: 0 };
  const fresh = document.createElement("a");
  fresh.className = "fresh";
  fresh.href = location.pathname + location.search;
  fresh.hidden = true;
  const told = document.createElement("p");
  told.className = "unseen";
  told.setAttribute("aria-live", "polite");
  document.getElementById("main")?.prepend(fresh, told);
  const height = document.querySelector("[data-live-height] a");
  const shown = [...document.querySelectorAll('main a[href*="block/"]')]
    .map((link) => Number(link.getAttribute("href")?.split("/").at(-1)))
    .filter(Number.isInteger);
  /** The block that the page was made for: it comes again when the stream begins with it. */
  let newest = Math.max(-1, ...shown);

  const source = new EventSource(`${root}api/v1/live`);
  source.addEventListener("block", (event) => {
    const { number } = JSON.parse(event.data);
    if (number <= newest) return;
    newest = number;
    if (live === "follow") return location.reload();
    seen.blocks += 1;
    fresh.hidden = false;
    fresh.textContent = seen.blocks === 1 ? say("newBlock") : say("newBlocks", { n: seen.blocks });
    if (seen.blocks % 10 === 1) told.textContent = fresh.textContent;
    if (height instanceof HTMLAnchorElement) {
      height.textContent = new Intl.NumberFormat(document.documentElement.lang).format(number);
      height.href = `${root}block/${number}`;
    }
  });
  // Another chain, or more was missed than is sent again.
  source.addEventListener("reset", () => location.reload());
  addEventListener("pagehide", () => source.close());
  // A page that comes back as it was left has missed some.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload();
  });
}

/** What is not there yet, or away: shown as soon as it can be, and not before, so that nobody loses their place for nothing. */
function watchForThePage(seconds = 0) {
  setTimeout(async () => {
    const isThere = await fetch(location.href, { method: "HEAD" }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) location.reload();
    else watchForThePage(seconds);
  }, seconds * 1000);
}

/** On a narrow screen the navigation scrolls in itself: where one is, is in sight. */
function showWhereOneIs() {
  const nav = document.querySelector(".pages");
  const here = nav?.querySelector("[aria-current]");
  if (!nav || !here) return;
  const [outer, inner] = [nav.getBoundingClientRect(), here.getBoundingClientRect()];
  nav.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
}

showWhereOneIs();
tellTimes();
setInterval(tellTimes, 1000);
addCopyButtons();
listenToKeys();
if (live !== undefined) watchBlocks();
if (retrySeconds !== undefined) watchForThePage(Number(retrySeconds));
