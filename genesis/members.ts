import { validatorsMax } from "./config.ts";
import { type Manifest, type ManifestNode, slotOf } from "./manifest.ts";
import type { NodeKey } from "./node-key.ts";

/** The last part of an IPv4 address that a container can have: 255 is the broadcast address of its /24. */
const hostPartMax = 254;
const numberMax = 999;

/** `validator-6` for `6` or `validator-6`; undefined for what is no validator's name. */
export function readValidatorName(word: string): string | undefined {
  const number = /^(?:validator-)?([1-9]\d{0,2})$/.exec(word)?.[1];
  return number === undefined || Number(number) > numberMax ? undefined : `validator-${number}`;
}

/** The name behind the last one that was ever used. */
export function nextValidatorName({ validators, formerValidators = [] }: Manifest): string {
  const numbers = [...validators, ...formerValidators].map(({ name }) => numberOf(name));
  return `validator-${Math.max(...numbers) + 1}`;
}

/**
 * The manifest with one node more. A former validator gets its place back, any other one the next address and the next slot
 * that nobody ever had; ports are those of the first validator.
 */
export function withValidator({
  manifest,
  name,
  key,
}: {
  manifest: Manifest;
  name: string;
  key: Pick<NodeKey, "address" | "nodeId">;
}): { manifest: Manifest; place: ManifestNode } | { refused: string } {
  const fixed = withSlots(manifest);
  const { validators, formerValidators = [], traceNode } = fixed;
  const [first] = validators;
  if (first === undefined) return { refused: "there is no validator yet" };
  if (validators.length >= validatorsMax)
    return { refused: `there are ${validators.length} nodes, the most that a network may have` };
  const all = [...validators, ...formerValidators, ...(traceNode === undefined ? [] : [traceNode])];
  const former = formerValidators.find((node) => node.name === name);
  const hostPart = Math.max(...all.map(({ host }) => Number(host.split(".")[3]))) + 1;
  if (former === undefined && hostPart > hostPartMax)
    return { refused: `no address is left behind ${first.host}` };
  const place: ManifestNode = {
    name,
    address: key.address,
    nodeId: key.nodeId,
    host: former?.host ?? [...first.host.split(".").slice(0, 3), hostPart].join("."),
    peerPort: first.peerPort,
    httpPort: first.httpPort,
    metricsPort: first.metricsPort,
    slot: former?.slot ?? Math.max(...all.map(({ slot = 0 }) => slot)) + 1,
  };
  const others = formerValidators.filter((node) => node.name !== name);
  return {
    place,
    manifest: withFormer({ ...fixed, validators: [...validators, place].sort(byNumber) }, others),
  };
}

/** The manifest with one node less, which keeps its name, its address and its slot among the former ones. */
export function withoutValidator({ manifest, name }: { manifest: Manifest; name: string }): Manifest {
  const fixed = withSlots(manifest);
  const { validators, formerValidators = [] } = fixed;
  const leaving = validators.filter((node) => node.name === name);
  return withFormer(
    { ...fixed, validators: validators.filter((node) => node.name !== name) },
    [...formerValidators, ...leaving].sort(byNumber),
  );
}

/** With the slots of all nodes written down, so that they stay when the list changes. */
function withSlots(manifest: Manifest): Manifest {
  const { validators, traceNode } = manifest;
  return {
    ...manifest,
    validators: validators.map((node) => ({ ...node, slot: slotOf(manifest, node.name) })),
    ...(traceNode === undefined
      ? {}
      : { traceNode: { ...traceNode, slot: slotOf(manifest, traceNode.name) } }),
  };
}

function withFormer(
  { formerValidators: _before, ...manifest }: Manifest,
  formerValidators: readonly ManifestNode[],
): Manifest {
  return formerValidators.length === 0 ? manifest : { ...manifest, formerValidators: [...formerValidators] };
}

function numberOf(name: string): number {
  return Number(name.slice("validator-".length));
}

function byNumber(one: { name: string }, other: { name: string }): number {
  return numberOf(one.name) - numberOf(other.name);
}
