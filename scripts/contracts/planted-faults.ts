/** A fault that the tests of the contracts must find: one place of FeeCollector.sol, and what is put there. */
export type PlantedFault = { name: string; from: string; to: string };

export const plantedFaults: readonly PlantedFault[] = [
  {
    name: "an order can be paid a second time",
    from: "if (booked[id].received != 0) revert AlreadyPaid(id);",
    to: "",
  },
  {
    name: "an order can be paid late",
    from: "if (block.timestamp > order.validUntil) revert Expired(order.validUntil);",
    to: "",
  },
  {
    name: "too much is taken",
    from: "if (msg.value != order.amount)",
    to: "if (msg.value < order.amount)",
  },
  {
    name: "the fee of a box grows above the order's",
    from: "received < order.amount ? (order.fee * received) / order.amount : order.fee",
    to: "(order.fee * received) / order.amount",
  },
  {
    name: "what is owed is not summed up",
    from: "owedTotal += amount;",
    to: "",
  },
  {
    name: "29.99 % are burned",
    from: "BURN_BASIS_POINTS = 3000",
    to: "BURN_BASIS_POINTS = 2999",
  },
  {
    name: "anybody may transfer to the collector",
    from: "if (msg.sender != openBox) revert NotPayable();",
    to: "",
  },
  {
    name: "anybody may sign",
    from: "if (!isSigner[order.source][signer]) revert NotSigned(signer);",
    to: "",
  },
  {
    name: "an order that a transfer has begun to pay can be paid whole",
    from: "if (box.balance != 0) revert MoneyInBox(id, box);",
    to: "",
  },
  {
    name: "each part of a payment rounds its burning by itself",
    from: "_burnShare(feeDue) - _burnShare(feeBefore)",
    to: "_burnShare(feeDue - feeBefore)",
  },
];
