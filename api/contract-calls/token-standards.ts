import { Interface } from "ethers/abi";

export type TokenStandard = "erc20" | "erc721" | "erc1155";

const abis: Readonly<Record<TokenStandard, Interface>> = {
  erc20: new Interface([
    "function name() view returns (string)",
    "function symbol() view returns (string)",
    "function decimals() view returns (uint8)",
    "function totalSupply() view returns (uint256)",
    "function balanceOf(address owner) view returns (uint256)",
    "function allowance(address owner, address spender) view returns (uint256)",
  ]),
  erc721: new Interface([
    "function name() view returns (string)",
    "function symbol() view returns (string)",
    "function tokenURI(uint256 tokenId) view returns (string)",
    "function balanceOf(address owner) view returns (uint256)",
    "function ownerOf(uint256 tokenId) view returns (address)",
    "function getApproved(uint256 tokenId) view returns (address)",
    "function isApprovedForAll(address owner, address operator) view returns (bool)",
    "function supportsInterface(bytes4 interfaceId) view returns (bool)",
  ]),
  erc1155: new Interface([
    "function uri(uint256 id) view returns (string)",
    "function balanceOf(address owner, uint256 id) view returns (uint256)",
    "function balanceOfBatch(address[] owners, uint256[] ids) view returns (uint256[])",
    "function isApprovedForAll(address owner, address operator) view returns (bool)",
    "function supportsInterface(bytes4 interfaceId) view returns (bool)",
  ]),
};

/** The functions without which none is called by this standard's name. */
const telling: readonly (readonly [TokenStandard, readonly string[]])[] = [
  ["erc1155", ["balanceOf(address,uint256)", "balanceOfBatch(address[],uint256[])"]],
  ["erc721", ["balanceOf(address)", "ownerOf(uint256)", "getApproved(uint256)"]],
  ["erc20", ["balanceOf(address)", "totalSupply()", "allowance(address,address)"]],
];

/** What can be read of a token, by its standard. */
export function standardAbi(standard: TokenStandard): Interface {
  return abis[standard];
}

/** The standard whose functions a contract's code looks for: compilers push the selectors that they compare. */
export function standardOfCode(code: string): TokenStandard | undefined {
  const found = telling.find(([standard, functions]) =>
    functions.every((name) => {
      const selector = abis[standard].getFunction(name)?.selector ?? "";
      return code.includes(`63${selector.slice(2)}`);
    }),
  );
  return found?.[0];
}
