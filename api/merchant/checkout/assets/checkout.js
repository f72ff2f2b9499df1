// @ts-check
// What payment pages do beyond their HTML: a wallet's payment, news of it, the time that is left. All else works without it.

import { addCopyButtons } from "./copy.js";
import { followPayment } from "./follow-payment.js";

addCopyButtons();
if (document.getElementById("checkout") !== null) followPayment();
const print = document.getElementById("print");
if (print !== null) {
  print.hidden = false;
  print.addEventListener("click", () => window.print());
}
