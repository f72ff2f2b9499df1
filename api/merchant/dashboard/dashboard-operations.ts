import { noBody, type Operation, operation } from "../../rest/operation.ts";
import { noParameters } from "../../rest/parameters.ts";
import { apiKeyWith } from "../../rest/security.ts";
import { type DashboardRecord, dashboardRecord } from "./dashboard-record.ts";

export type DashboardServices = { dashboard: { read(wallet: string): Promise<DashboardRecord> } };

export const dashboardOperations: Operation<DashboardServices>[] = [
  operation({
    method: "GET",
    path: "/api/v1/svc-dev/v1/dashboard",
    operationId: "getDashboard",
    tag: "Developer API",
    summary: "The dashboard of the merchant whose key it is",
    security: apiKeyWith("dashboard:read"),
    params: noParameters,
    query: noParameters,
    body: noBody,
    responses: { 200: dashboardRecord },
    problems: ["service_unavailable"],
    answer: async ({ caller, services }) => ({
      status: 200,
      record: await services.dashboard.read(caller.wallet),
    }),
  }),
];
