/**
 * Code of a wallet that is a contract (EIP-1271), for `anvil_setCode`: it takes the signatures of one key as its own, or
 * answers in a way that is no yes.
 */
export function contractWalletCode(
  answers:
    | { owner: string }
    | "reverts"
    | "loops"
    | "gives back what it was sent"
    | "says yes and more"
    | "says true",
): string {
  switch (answers) {
    case "reverts":
      return "0x5f5ffd";
    case "loops":
      return "0x5b5f56";
    case "gives back what it was sent":
      // calldatacopy(0, 0, calldatasize) return(0, calldatasize)
      return "0x365f5f37365ff3";
    case "says yes and more":
      return `0x63${selector}60e01b5f5260405ff3`;
    case "says true":
      return "0x60015f5260205ff3";
    default:
      return `0x${[
        "6004355f52", // mem[00] = the hash
        "60a43560f81c602052", // mem[20] = v, the byte after r and s
        "606435604052", // mem[40] = r
        "608435606052", // mem[60] = s
        "602060806080" + "5f60015afa50", // mem[80] = ecrecover(mem[00..80])
        `60805173${answers.owner.slice(2).toLowerCase()}14`, // is it the owner's
        `63${selector}60e01b025f5260205ff3`, // the selector for yes, zero for no
      ].join("")}`;
  }
}

/** Of `isValidSignature(bytes32,bytes)`, and what it returns for yes. */
const selector = "1626ba7e";
