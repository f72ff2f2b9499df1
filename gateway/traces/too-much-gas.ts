import { type Refusal, refusal } from "../json-rpc/refusal.ts";

/** The words for every trace beyond the bound. */
export function tooMuchGas(gas: number, gasMax: number): Refusal {
  return refusal("invalid_params", `This would trace ${gas} gas; at most ${gasMax} can be traced at once`, {
    data: { gasMax },
  });
}
