import { type Html, html } from "../../../../lib/web/html.ts";
import type { WalletSession } from "../../session/session-store.ts";
import { moment, notice, pageHead } from "../elements.ts";
import type { MerchantRoute, SignedIn } from "../merchant-page.ts";

/** Where a wallet is signed in. */
export const sessions: MerchantRoute = {
  method: "GET",
  path: "/merchant/sessions",
  async answer(context, { query }) {
    const { words, el } = context;
    const { sessions: texts } = words;
    const all = await context.sessions.list(context.session);
    const others =
      all.length > 1
        ? html`<form method="post" action="${el.to("merchant/sessions/others")}" data-once><p class="actions"><button type="submit" class="quiet">${texts.endOthers}</button></p></form>`
        : html``;
    return {
      title: texts.title,
      description: texts.intro,
      main: html`${pageHead(context, { title: texts.title, tab: "sessions" })}
${notice(query["done"] === "ended" ? words.keys.wasEnded : undefined)}
<section class="card"><p>${texts.intro}</p>
<ul class="rows" aria-label="${texts.caption}">${all.map((each) => sessionRow(context, each))}</ul>
${others}
</section>`,
    };
  },
};

export const endSession: MerchantRoute = {
  method: "POST",
  path: "/merchant/sessions/:id/end",
  async answer({ sessions: all, session }, { params: { id = "" } }) {
    // One that is gone already is what was wanted.
    if (isSessionId(id)) await all.end(session, id);
    return { redirect: "merchant/sessions?done=ended" };
  },
};

export const endOtherSessions: MerchantRoute = {
  method: "POST",
  path: "/merchant/sessions/others",
  async answer({ sessions: all, session }) {
    await all.endOthers(session);
    return { redirect: "merchant/sessions?done=ended" };
  },
};

export const signOut: MerchantRoute = {
  method: "POST",
  path: "/merchant/sign-out",
  async answer({ sessions: all, session }) {
    await all.end(session, session.id);
    return { redirect: "merchant", setCookie: all.forgetCookie() };
  },
};

/** PostgreSQL takes nothing else for a UUID's column. */
function isSessionId(id: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
}

/** A name that people know, where the program's own line has one. */
function programOf({ words: { sessions: texts } }: SignedIn, { userAgent }: WalletSession): Html {
  const browser = ["Edg", "OPR", "Firefox", "Chrome", "Safari"].find((name) =>
    userAgent.includes(`${name}/`),
  );
  const system = ["Android", "iPhone", "Windows", "Mac OS", "Linux"].find((name) => userAgent.includes(name));
  const known = { Edg: "Edge", OPR: "Opera" }[browser ?? ""] ?? browser;
  const [program = ""] = userAgent.split(" ", 1);
  const name = known === undefined ? program : [known, ...(system === undefined ? [] : [system])].join(", ");
  return html`<span title="${userAgent}">${name === "" ? texts.unknownProgram : name}</span>`;
}

function sessionRow(context: SignedIn, each: WalletSession): Html {
  const { sessions: texts } = context.words;
  const [begun, ends] = [each.createdAt, each.expiresAt].map((at) => moment(context, at.toISOString()));
  return html`<li><p><strong>${programOf(context, each)}</strong><br>
<span class="soft">${texts.begun} ${begun ?? ""} · ${texts.ends} ${ends ?? ""}</span></p>
${endForm(context, each)}</li>`;
}

function endForm(context: SignedIn, each: WalletSession): Html {
  const { words, el, session } = context;
  if (each.id === session.id) return html`<strong>${words.sessions.here}</strong>`;
  const label = words.sessions.endNamed(each.userAgent.slice(0, 40));
  return html`<form method="post" action="${el.to(`merchant/sessions/${each.id}/end`)}" data-once><button type="submit" class="quiet small" aria-label="${label}">${words.sessions.end}</button></form>`;
}
