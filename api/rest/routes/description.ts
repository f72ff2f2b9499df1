import { z } from "zod";
import { noParameters } from "../parameters.ts";
import { type Route, route } from "../route.ts";

/** The descriptions of the API itself, made once: they change with a release only. */
export function descriptionRoutes({
  openApi,
  graphqlSchema,
}: {
  openApi: () => object;
  graphqlSchema: () => string;
}): Route[] {
  return [
    route({
      path: "/api/v1/openapi.json",
      operationId: "getOpenApi",
      tag: "Description",
      summary: "This API as OpenAPI 3.1",
      params: noParameters,
      query: noParameters,
      response: z.looseObject({ openapi: z.string() }).meta({ id: "OpenApi" }),
      answer: () => ({ record: openApi(), cache: "release" }),
    }),
    route({
      path: "/api/v1/graphql-schema",
      operationId: "getGraphqlSchema",
      tag: "Description",
      summary: "The GraphQL schema in its definition language",
      params: noParameters,
      query: noParameters,
      response: { mediaType: "text/plain", description: "GraphQL schema definition language" },
      answer: () => ({ text: graphqlSchema(), type: "text/plain; charset=utf-8", cache: "release" }),
    }),
  ];
}
