import { html } from "../../lib/web/html.ts";
import { nameOf } from "./look.ts";
import type { SceneShots } from "./take-shots.ts";

/** A page with all pictures, a row a state, for people to look at. */
export function indexPage(all: readonly SceneShots[]): string {
  const rows = all.map(
    ({ scene, shots, failed }) => html`<section id="${scene.name}">
      <h2>${scene.title} <small>${scene.name} · ${scene.path}</small></h2>
      ${failed === undefined ? html`` : html`<p class="failed">${failed}</p>`}
      <div>${shots.map(
        ({ look, file }) =>
          html`<figure><a href="${file}"><img src="${file}" alt="" loading="lazy" class="w${String(look.widthPx)}"></a><figcaption>${nameOf(look)}</figcaption></figure>`,
      )}</div>
    </section>`,
  );
  return html`<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Tollgate's pages</title>
  <style>
    body { margin: 1rem 2rem; font: 1rem/1.5 system-ui, sans-serif; color-scheme: light dark; }
    small { color: GrayText; font-weight: 400; }
    nav a { margin-right: 0.75rem; white-space: nowrap; }
    div { display: flex; align-items: flex-start; gap: 1rem; overflow-x: auto; }
    figure { flex: none; margin: 0; }
    img { height: 24rem; object-fit: cover; object-position: top; border: 1px solid GrayText; }
    img.w1280 { width: 32rem; }
    img.w320 { width: 12rem; }
    .failed { color: #b3261e; font-weight: 600; }
  </style>
  <h1>Tollgate's pages</h1>
  <nav>${all.map(({ scene }) => html`<a href="#${scene.name}">${scene.name}</a>`)}</nav>
  ${rows}
</html>
`.text;
}
