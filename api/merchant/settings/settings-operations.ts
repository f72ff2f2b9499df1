import { z } from "zod";
import { isRefusal } from "../../../lib/http-service/refusal.ts";
import { noBody, type Operation, operation } from "../../rest/operation.ts";
import { noParameters } from "../../rest/parameters.ts";
import { walletSession } from "../../rest/security.ts";
import type { Settings } from "./settings.ts";
import { settingsBody, settingsRecord } from "./settings-record.ts";

export type SettingsServices = { settings: Settings };

const session = {
  ...{ path: "/api/v1/svc-dev/settings", tag: "Wallet session" as const, security: walletSession },
  ...{ params: noParameters, query: noParameters, problems: ["service_unavailable"] as const },
};
const settingsAnswer = z.strictObject({ settings: settingsRecord }).meta({ id: "MerchantSettingsAnswer" });

export const settingsOperations: Operation<SettingsServices>[] = [
  operation({
    ...session,
    ...{ method: "GET", operationId: "getSettings" },
    summary: "What the wallet's customers are told about it",
    body: noBody,
    responses: { 200: settingsAnswer },
    answer: async ({ caller, services: { settings } }) => ({
      status: 200,
      record: { settings: await settings.read(caller.wallet) },
    }),
  }),
  operation({
    ...session,
    ...{ method: "PUT", operationId: "saveSettings" },
    summary: "Replaces what the wallet's customers are told about it",
    description:
      "Spaces around a text are left out. At most 20 changes in 24 hours. A wallet without an order, a key, an invoice or a session is forgotten a week after it first signed in, and its settings with it.",
    body: settingsBody,
    responses: { 200: settingsAnswer },
    async answer({ body, caller, services: { settings } }) {
      const saved = await settings.save(caller.wallet, body);
      return isRefusal(saved) ? saved : { status: 200, record: { settings: saved } };
    },
  }),
];
