// @ts-check
import { byId, setText } from "./elements.js";

/** Since the page's clock was set: when, and what the chain's clock said. Not the browser's clock, which may be wrong by hours. */
let setAtMs = performance.now();
let chainMs = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** @param {number} nowMs the chain's clock, in Unix milliseconds */
export function setClock(nowMs) {
  setAtMs = performance.now();
  chainMs = nowMs;
}

/**
 * Counts down to the end by the chain's clock, each second.
 * @param {() => number} endMs in Unix milliseconds; not a number where there is none
 * @param {() => void} onEnd called once for each end
 */
export function startCountdown(endMs, onEnd) {
  /** @type {number | undefined} */
  let ended;
  function tick() {
    const leftMs = endMs() - (chainMs + performance.now() - setAtMs);
    const line = document.getElementById("left-line");
    if (line !== null && !Number.isNaN(leftMs)) {
      line.hidden = false;
      setText(byId("left"), clockText(Math.max(0, Math.ceil(leftMs / 1000))));
    }
    if (leftMs < 0 && ended !== endMs()) {
      ended = endMs();
      onEnd();
    }
    clearTimeout(timer);
    timer = setTimeout(tick, 1000);
  }
  tick();
}

/** `4:05`, `1:04:05`. @param {number} seconds */
function clockText(seconds) {
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}
