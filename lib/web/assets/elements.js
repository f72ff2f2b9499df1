// @ts-check

/**
 * The element of the page with this id.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

/**
 * Changes a text only where it is another: what is said anew is read out anew.
 * @param {HTMLElement} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {{ className?: string, text?: string }} [options]
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function create(name, { className, text } = {}) {
  const element = document.createElement(name);
  if (className !== undefined) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** The page's words in its language, as the server put them into `data-words`. @type {Readonly<Record<string, string>>} */
const words = JSON.parse(document.body.dataset["words"] ?? "{}");

/**
 * A text of the page's language, with `{name}` replaced by its value.
 * @param {string} name
 * @param {Readonly<Record<string, string | number>>} [values]
 */
export function say(name, values = {}) {
  return (words[name] ?? "").replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}
