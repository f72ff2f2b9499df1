// Starts Scalar with this host's document alone: no fonts, telemetry, agent or proxy of others.
// @ts-expect-error: the bundle before this script defines it.
const { Scalar } = globalThis;

const root = new URL("../", document.baseURI).href;
Scalar.createApiReference("#app", {
  url: `${root}api/v1/openapi.json`,
  // A proxy may serve it in a folder, under another name than the document says.
  servers: [{ url: root.replace(/\/$/, "") }],
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: "never",
});
