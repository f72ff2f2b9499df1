// @ts-check

/**
 * The server's news of a payment (server-sent events), while the page is looked at: a tab in the background holds no connection, and
 * looks anew when it comes to the front.
 * @param {{
 *   path: () => string,
 *   seen: () => string,
 *   onChange: () => void,
 *   onClock: (nowMs: number) => void,
 *   onLost: () => void,
 * }} page `path` is "" where there is nothing to listen to; `seen` is what the page shows
 */
export function listen({ path, seen, onChange, onClock, onLost }) {
  /** @type {EventSource | undefined} */
  let source;

  function close() {
    source?.close();
    source = undefined;
  }

  function follow() {
    if (path() === "") return close();
    if (source !== undefined || document.visibilityState !== "visible") return;
    const opened = new EventSource(`${path()}?seen=${encodeURIComponent(seen())}`);
    source = opened;
    opened.addEventListener("changed", onChange);
    opened.addEventListener("clock", ({ data }) => {
      const { now } = Object(JSON.parse(String(data)));
      if (typeof now === "number") onClock(now);
    });
    opened.addEventListener("error", () => {
      // The browser comes back by itself, unless it was refused.
      if (opened.readyState === EventSource.CLOSED) close();
      onLost();
    });
  }

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") return close();
    onChange();
  });

  return {
    follow,
    isListening: () => source?.readyState === EventSource.OPEN,
  };
}
