// Starts GraphiQL over this host's own GraphQL.
// @ts-expect-error: the bundles before this script define them.
const { GraphiQL, React, ReactDOM } = globalThis;

const url = new URL("graphql", document.baseURI).href;
const container = document.getElementById("app");
ReactDOM.createRoot(container).render(
  React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({ url }),
    defaultQuery: "{\n  chain {\n    blockNumber\n    chainId\n  }\n}\n",
  }),
);
