import { type Refusal, refusal } from "../json-rpc/refusal.ts";

/** The refusal of every trace beyond the gas bound. */
export function tooMuchGas(gas: number, gasMax: number): Refusal {
  return refusal("invalid_params", `This would trace ${gas} gas; at most ${gasMax} can be traced at once`, {
    data: { gasMax },
  });
}
