// @ts-check

const { lang } = document.documentElement;
/** As the reader writes the page's language: with the day before the month in London, after it in New York. */
const locale = navigator.languages.find((each) => each.split("-", 1)[0] === lang) ?? lang;
const moments = new Intl.DateTimeFormat(locale, {
  dateStyle: "medium",
  timeStyle: "short",
});

/** Says each moment of `within`, which comes in UTC, in the time of whoever reads it. @param {ParentNode} within */
export function tellLocalTimes(within) {
  for (const time of within.querySelectorAll("time")) {
    const at = Date.parse(time.dateTime);
    if (Number.isNaN(at)) continue;
    time.title = time.textContent;
    time.textContent = moments.format(at);
  }
}
