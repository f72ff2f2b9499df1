// @ts-check

const timeoutMs = 20_000;

/**
 * Asks for a page as a document of its own, in which no script runs. `url` is where redirects led to. Rejects where no page
 * comes.
 * @param {string} path
 * @param {{ body?: URLSearchParams, key?: string }} [options] what is posted, and its Idempotency-Key
 * @returns {Promise<{ status: number, url: string, page: Document }>}
 */
export function askForPage(path, { body, key } = {}) {
  return new Promise((resolve, reject) => {
    // Not fetch: only this gives a document without making HTML of a text, which the page's policy forbids.
    const request = new XMLHttpRequest();
    request.open(body === undefined ? "GET" : "POST", path);
    request.responseType = "document";
    request.timeout = timeoutMs;
    request.setRequestHeader("Accept", "text/html");
    if (key !== undefined) request.setRequestHeader("Idempotency-Key", key);
    const failed = () => reject(new Error(`no page came from ${path}`));
    request.addEventListener("error", failed);
    request.addEventListener("timeout", failed);
    request.addEventListener("load", () => {
      const page = request.responseXML;
      if (page === null) failed();
      else resolve({ status: request.status, url: request.responseURL, page });
    });
    request.send(body ?? null);
  });
}
