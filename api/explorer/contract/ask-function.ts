import type { FunctionFragment } from "ethers/abi";
import type { Arguments } from "../../chain/known-contracts.ts";
import { decodedBytesMax } from "../../contract-calls/bounded-coder.ts";
import { decodeReturned, encodeCall, type Faults } from "../../contract-calls/function-call.ts";
import { revertText } from "../elements/revert-text.ts";
import type { PageContext } from "../page.ts";

/** What a function answered to somebody who asked on a page. */
export type FunctionAnswer =
  | { faults: Faults }
  | { unanswered: "busy" | "slow" }
  | { failed: string }
  /** In the contract's own words; undefined where it gave no reason. */
  | { reverted: string | undefined }
  /** `values`: undefined where the bytes are not of the function's types. */
  | { values: Arguments | undefined; raw: string; block: number };

/** Asks where every argument is there: a form that was only looked at has none. */
export async function askFunction(
  { read }: Pick<PageContext, "read">,
  {
    address,
    fragment,
    values,
    block,
  }: { address: string; fragment: FunctionFragment; values: readonly string[]; block: number },
): Promise<FunctionAnswer | undefined> {
  if (fragment.inputs.length > 0 && values.length === 0) return undefined;
  const call = encodeCall(fragment, values);
  if ("faults" in call) return call;
  const outcome = await read.callContract({ to: address, data: call.data, block });
  if ("unanswered" in outcome || "failed" in outcome) return outcome;
  if ("reverted" in outcome) return { reverted: reasonOf(outcome.reverted, { read, address }) };
  const { returned: raw } = outcome;
  return { values: decodeReturned(fragment, raw), raw, block };
}

function reasonOf(
  data: string | undefined,
  { read, address }: { read: PageContext["read"]; address: string },
): string | undefined {
  if (data === undefined || data === "0x") return undefined;
  if (data.length > 2 + 2 * decodedBytesMax) return data;
  return revertText({ ...read.contracts.revert({ to: address, data }), raw: data });
}
