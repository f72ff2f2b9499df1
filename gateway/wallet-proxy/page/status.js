// @ts-check
import { byId, say, setText } from "./elements.js";

/**
 * @typedef {{ result: string } | { problem: string, retryAfterMs: number }} Answer
 */

/** Each question costs the key a point, so the page asks seldom, and not at all while nobody looks at it. */
const askEveryMs = 5000;

/**
 * Shows through the proxy what the network does, again and again.
 * @param {import("./page.js").Configuration} configuration
 */
export async function watchNetwork({ chainId }) {
  let isChainKnown = false;
  for (;;) {
    const asked = await ask(isChainKnown ? "eth_blockNumber" : "eth_chainId");
    if ("problem" in asked) {
      isChainKnown = false;
      show("bad", asked.problem);
      await pause(Math.max(askEveryMs, asked.retryAfterMs));
    } else if (isChainKnown) {
      show("good", say("gatewayAnswers"));
      setText(
        byId("block"),
        new Intl.NumberFormat(document.documentElement.lang).format(BigInt(asked.result)),
      );
      await pause(askEveryMs);
    } else if (asked.result === chainId) {
      isChainKnown = true;
      setText(byId("chain"), `${Number(chainId)} (${chainId})`);
    } else {
      show("bad", say("otherNetwork", { chainId: asked.result }));
      await pause(askEveryMs);
    }
  }
}

/**
 * @param {"good" | "bad"} state
 * @param {string} text
 */
function show(state, text) {
  byId("light").dataset["state"] = state;
  setText(byId("status-text"), text);
}

/**
 * @param {string} method
 * @returns {Promise<Answer>}
 */
async function ask(method) {
  try {
    const response = await fetch("/", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] }),
    });
    const { result, error } = await response.json();
    if (typeof result === "string") return { result };
    const retryAfterMs = Number(response.headers.get("Retry-After") ?? 0) * 1000;
    const message = error?.message ?? say("gatewayStatus", { status: response.status });
    return { problem: say(`problem_${error?.data?.code}`, { message }) || message, retryAfterMs };
  } catch {
    return { problem: say("proxyAway"), retryAfterMs: 0 };
  }
}

/** @param {number} ms */
async function pause(ms) {
  await new Promise((resolve) => setTimeout(resolve, ms));
  if (document.visibilityState === "visible") return;
  await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}
