// @ts-check

/** The payment that was sent last from this browser: where, and its hash. */
const storageKey = "tollgate_sent";

/** The hash of a payment that was sent from this page's path, in this tab or another one; "" where none was. */
export function sentHash() {
  try {
    const { path, hash } = Object(JSON.parse(localStorage.getItem(storageKey) ?? "{}"));
    return path === location.pathname && /^0x[0-9a-f]{64}$/.test(hash) ? String(hash) : "";
  } catch {
    return "";
  }
}

/** Keeps a payment's hash in the page's address and for the browser's other tabs. @param {string} hash */
export function rememberSent(hash) {
  history.replaceState(null, "", `${location.pathname}?tx=${hash}`);
  try {
    localStorage.setItem(storageKey, JSON.stringify({ path: location.pathname, hash }));
  } catch {
    // The address has it as well.
  }
}

export function forgetSent() {
  try {
    if (sentHash() !== "") localStorage.removeItem(storageKey);
  } catch {
    // There was none.
  }
  if (location.search !== "") history.replaceState(null, "", location.pathname);
}

/** Tells when another tab of this browser has sent a payment from the same page. @param {(hash: string) => void} onSent */
export function onSentElsewhere(onSent) {
  addEventListener("storage", ({ key }) => {
    const hash = sentHash();
    if (key === storageKey && hash !== "") onSent(hash);
  });
}
