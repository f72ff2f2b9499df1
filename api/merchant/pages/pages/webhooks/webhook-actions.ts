import { errorTable } from "../../../../../lib/errors.ts";
import { isRefusal, type Refusal } from "../../../../../lib/http-service/refusal.ts";
import { idOf, publicId } from "../../../public-id.ts";
import type { MerchantAnswer, MerchantRoute, SignedIn } from "../../merchant-page.ts";
import { fromJakartaTime, toJakartaTime } from "./jakarta-time.ts";
import { webhookRefusal } from "./save-webhook.ts";
import { missingEvent } from "./webhook-event.ts";
import { showWebhooks } from "./webhooks-page.ts";

/** As much as the operations for programs cost that have us send. */
const sendingCost = 5;
const home = "merchant/webhooks";

/** Sends a test, and shows what was sent and answered. */
export const sendTest: MerchantRoute = {
  method: "POST",
  path: "/merchant/webhooks/test",
  cost: sendingCost,
  async answer(context) {
    const { webhooks, session, words } = context;
    const tested = await webhooks.test(session.wallet);
    if (!isRefusal(tested)) {
      return { redirect: `${home}/events/${publicId("evt", tested.event.id)}?done=tested` };
    }
    const { errors } = words.webhooks;
    if (tested.refused === "rate_limited") return refuse(context, tested, errors.tooManyTests);
    return refuse(context, tested, errors.secretLost);
  },
};

export const enable: MerchantRoute = {
  method: "POST",
  path: "/merchant/webhooks/enable",
  async answer(context) {
    const enabled = await context.webhooks.enable(context.session.wallet);
    return isRefusal(enabled) ? refuse(context, enabled) : { redirect: `${home}?done=enabled` };
  },
};

/** Ends the overlap of two secrets. */
export const finishRotation: MerchantRoute = {
  method: "POST",
  path: "/merchant/webhooks/finish",
  async answer(context) {
    const finished = await context.webhooks.finishRotation(context.session.wallet);
    return isRefusal(finished) ? refuse(context, finished) : { redirect: `${home}?done=finished` };
  },
};

/** Sends all events since a time again. */
export const replaySince: MerchantRoute = {
  method: "POST",
  path: "/merchant/webhooks/replay",
  cost: sendingCost,
  async answer(context, { form }) {
    const { webhooks, session, words } = context;
    const since = fromJakartaTime(form["since"]);
    if (since === undefined) {
      return showWebhooks(context, { fault: words.webhooks.replay.wrongSince, status: 400 });
    }
    const replayed = await webhooks.replay(session.wallet, { since });
    if (isRefusal(replayed)) return refuse(context, replayed, words.webhooks.replay.disabled);
    const more =
      replayed.hasMore && replayed.lastAt !== null
        ? `&since=${encodeURIComponent(toJakartaTime(new Date(replayed.lastAt)))}`
        : "";
    return { redirect: `${home}?done=replayed&count=${replayed.replayed}${more}` };
  },
};

/** Sends one event again. */
export const replayOne: MerchantRoute = {
  method: "POST",
  path: "/merchant/webhooks/events/:id/replay",
  cost: sendingCost,
  async answer(context, { params: { id = "" } }) {
    const { webhooks, session, words } = context;
    const eventId = idOf("evt").safeParse(id);
    if (!eventId.success) return missingEvent(context);
    const replayed = await webhooks.replay(session.wallet, { eventId: eventId.data });
    if (!isRefusal(replayed)) {
      return { redirect: `${home}/events/${id}?done=${replayed.replayed === 0 ? "underway" : "again"}` };
    }
    return replayed.refused === "not_found"
      ? missingEvent(context)
      : refuse(context, replayed, words.webhooks.replay.disabled);
  },
};

/** Somebody without a webhook is led to where it is made. */
function refuse(
  context: SignedIn,
  refused: Refusal,
  fault = webhookRefusal(context, refused),
): MerchantAnswer | Promise<MerchantAnswer> {
  if (refused.refused === "not_found") return { redirect: home };
  return showWebhooks(context, { fault, status: errorTable[refused.refused].status });
}
