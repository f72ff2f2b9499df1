import { z } from "zod";
import type { ChartDocument } from "./render-chart.ts";

/** `from` may open connections to `port` of `to`. */
export type Pair = { from: string; to: string; port: number };

const componentLabel = "app.kubernetes.io/component";
const peersSchema = z
  .array(
    z.looseObject({
      podSelector: z.object({ matchLabels: z.record(z.string(), z.string()) }).optional(),
      namespaceSelector: z.object({ matchLabels: z.record(z.string(), z.string()) }).optional(),
    }),
  )
  .default([]);
const portsSchema = z.array(z.looseObject({ port: z.int() }));
const policySchema = z.looseObject({
  spec: z.looseObject({
    podSelector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    ingress: z.array(z.object({ ports: portsSchema, from: peersSchema })).default([]),
    egress: z.array(z.object({ ports: portsSchema, to: peersSchema })).default([]),
  }),
});

/** Who may connect to which component of the chart: where its policy lets in, and the other's lets out. Prometheus is outside. */
export function allowedPairs(documents: readonly ChartDocument[]): Pair[] {
  const policies = documents
    .filter(({ kind }) => kind === "NetworkPolicy")
    .map((document) => policySchema.parse(document).spec);
  const lets = (
    direction: "ingress" | "egress",
    { self, other, port }: { self: string; other: string; port: number },
  ) =>
    policies
      .filter(({ podSelector }) => podSelector.matchLabels[componentLabel] === self)
      .flatMap((policy) =>
        direction === "ingress"
          ? policy.ingress.map(({ ports, from }) => ({ ports, peers: from }))
          : policy.egress.map(({ ports, to }) => ({ ports, peers: to })),
      )
      .some(
        ({ ports, peers }) =>
          ports.some((one) => one.port === port) && peers.some((peer) => componentOf(peer) === other),
      );
  return policies.flatMap(({ podSelector, ingress }) => {
    const to = podSelector.matchLabels[componentLabel];
    if (to === undefined) return [];
    return ingress.flatMap(({ ports, from }) =>
      from.flatMap((peer) => {
        const other = componentOf(peer);
        if (other === undefined) return [];
        return ports
          .filter(({ port }) => other === "prometheus" || lets("egress", { self: other, other: to, port }))
          .map(({ port }) => ({ from: other, to, port }));
      }),
    );
  });
}

function componentOf({
  podSelector,
  namespaceSelector,
}: z.output<typeof peersSchema>[number]): string | undefined {
  if (namespaceSelector?.matchLabels["kubernetes.io/metadata.name"] === "monitoring") return "prometheus";
  return podSelector?.matchLabels[componentLabel];
}
