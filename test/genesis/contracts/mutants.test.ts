import t from "tap";
import { plantedFaults } from "../../../scripts/contracts/planted-faults.ts";
import { tryFault } from "../../../scripts/contracts/try-fault.ts";

for (const fault of plantedFaults) {
  t.test(`a test finds it where ${fault.name}`, async (t) => {
    const outcome = await tryFault(fault);
    if ("missed" in outcome) t.fail(outcome.missed);
    else t.comment(outcome.foundBy.join(", "));
  });
}

t.test("a fault that cannot be planted any more is told of", async (t) => {
  t.match(await tryFault({ name: "gone", from: "what stands nowhere", to: "" }), {
    missed: /does not stand/,
  });
});
