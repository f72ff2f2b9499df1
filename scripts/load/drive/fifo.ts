/** A queue whose `shift` takes constant time. It keeps no reference to what was taken out. */
export function createFifo<Item>() {
  let inward: Item[] = [];
  let outward: Item[] = [];
  const turn = () => {
    if (outward.length > 0) return;
    outward = inward.reverse();
    inward = [];
  };
  return {
    push: (item: Item) => void inward.push(item),
    shift(): Item | undefined {
      turn();
      return outward.pop();
    },
    first(): Item | undefined {
      turn();
      return outward.at(-1);
    },
    size: () => inward.length + outward.length,
  };
}
