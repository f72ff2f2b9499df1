// @ts-check
// What merchants' pages do beyond their HTML: signing in and paying, which need a wallet. All else works without it.

import { byId } from "./elements.js";
import { followInvoice, offerRefund } from "./invoice.js";
import { followOrder } from "./order.js";
import { offerSignIn } from "./sign-in.js";

/** A form that is sent twice by a double click asks once. */
function sendOnce() {
  for (const form of document.querySelectorAll("form[data-once]")) {
    form.addEventListener("submit", (event) => {
      if (form.hasAttribute("data-sent")) event.preventDefault();
      form.setAttribute("data-sent", "");
      form.querySelector("button[type=submit]")?.setAttribute("aria-disabled", "true");
    });
  }
  // A page that comes back as it was left can be sent again.
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) {
      form.removeAttribute("data-sent");
      form.querySelector("button[type=submit]")?.removeAttribute("aria-disabled");
    }
  });
}

/**
 * Loaded again, the page would ask for the secret a second time: the page that it is of comes instead. A browser that keeps pages
 * to go back to keeps this one without the secret.
 */
function forgetSecret() {
  const { back = "" } = byId("secret").dataset;
  history.replaceState(null, "", back);
  addEventListener("pagehide", () => document.getElementById("secret")?.replaceChildren());
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload();
  });
}

sendOnce();
if (document.getElementById("sign-in") !== null) offerSignIn();
if (document.getElementById("order") !== null) followOrder();
if (document.getElementById("invoice") !== null) void followInvoice();
if (document.getElementById("refund") !== null) offerRefund();
if (document.getElementById("secret") !== null) forgetSecret();
