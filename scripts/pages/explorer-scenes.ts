import { sealers } from "../../test/fakes/sealed-chain.ts";
import { alice, bob, crates, market, passes, rupiah } from "./sites/accounts.ts";
import type { ExplorerSites, Site } from "./sites/explorer-sites.ts";

/** One page in one state. */
export type ExplorerScene = {
  name: string;
  title: string;
  site: (sites: ExplorerSites) => Promise<Site>;
  path: string;
  /** Scripts change what is shown beyond times and copy buttons. */
  differsWithoutScripts?: boolean;
};

/** Every page of the explorer, and the states that it can be in. */
export function explorerScenes({
  hashes,
  blocks,
}: Pick<ExplorerSites, "hashes" | "blocks">): ExplorerScene[] {
  const network = (
    name: string,
    title: string,
    path: string,
    more: Partial<ExplorerScene> = {},
  ): ExplorerScene => ({ name, title, path, site: (sites) => sites.network(), ...more });
  const inState =
    (state: "stalled" | "behind" | "indexAway" | "chainAway" | "empty") =>
    (name: string, title: string, path: string): ExplorerScene => ({
      name,
      title,
      path,
      site: (sites) => sites[state](),
    });
  const [stalled, behind, indexAway, chainAway, empty] = [
    inState("stalled"),
    inState("behind"),
    inState("indexAway"),
    inState("chainAway"),
    inState("empty"),
  ];
  const validator = (index: number) => `/validator/${sealers[index]?.address}`;
  const unknown = `0x${"ab".repeat(32)}`;
  return [
    network("home", "Home", "/", { differsWithoutScripts: true }),
    network("blocks", "Blocks", "/blocks"),
    network("blocks-few", "Blocks, five a page", "/blocks?limit=5"),
    network("block", "A block with transactions", `/block/${blocks.busy}`, { differsWithoutScripts: true }),
    network("block-round-change", "A block of a later round", `/block/${blocks.late}`),
    network("block-newest", "The newest block", `/block/${blocks.newest}`),
    network("block-genesis", "The first block", "/block/0"),
    network("transactions", "Transactions", "/txs"),
    network("tx-payment", "A payment", `/tx/${hashes.payment}`, { differsWithoutScripts: true }),
    network("tx-token", "A transfer of a token", `/tx/${hashes.tokenTransfer}`),
    network("tx-nft", "A minted item", `/tx/${hashes.passTransfer}`),
    network("tx-batch", "A batch of items", `/tx/${hashes.crateTransfers}`),
    network("tx-call", "A call of a known contract", `/tx/${hashes.call}`),
    network("tx-creation", "A created contract", `/tx/${hashes.creation}`),
    network("tx-reason", "Reverted, with a reason", `/tx/${hashes.revertedWithReason}`),
    network("tx-error", "Reverted, with a custom error", `/tx/${hashes.revertedWithError}`),
    network("tx-out-of-gas", "Failed, out of gas", `/tx/${hashes.outOfGas}`),
    network("tx-pending", "Not mined yet", `/tx/${hashes.pending}`),
    network("tx-unknown", "An unknown transaction", `/tx/${unknown}`),
    network("address", "An account", `/address/${alice}`, { differsWithoutScripts: true }),
    network("address-transfers", "Its transfers", `/address/${alice}?tab=transfers`),
    network("address-filtered", "Its failed transactions", `/address/${alice}?status=failed&direction=out`),
    network(
      "address-new",
      "An account that was never used",
      "/address/0x00000000000000000000000000000000000000Ff",
    ),
    network("address-contract", "A known contract", `/address/${market}`),
    network("address-contract-events", "Its events", `/address/${market}?tab=events`),
    network("address-validator", "A validator's account", `/address/${sealers[0]?.address}`),
    network("address-wrong", "What is no address", "/address/0x12"),
    network("tokens", "Tokens", "/tokens"),
    network("token", "A token", `/token/${rupiah}`),
    network("token-items", "A token of items", `/token/${passes}`),
    network("token-many", "A token of several kinds", `/token/${crates}`),
    network("validators", "Validators", "/validators"),
    network("validator", "A validator", validator(0)),
    network("validator-away", "One that is away", validator(4)),
    network("burns", "Burns", "/burns"),
    network("contracts", "Contracts", "/contracts"),
    network("contract", "A known contract's functions", `/contract/${market}`),
    network(
      "contract-answer",
      "What a token answers",
      `/contract/${rupiah}?call=balanceOf(address)&argument=${alice}`,
    ),
    network(
      "contract-fault",
      "An argument that cannot be",
      `/contract/${rupiah}?call=balanceOf(address)&argument=0x12`,
    ),
    network(
      "contract-refused",
      "A typed function, refused",
      `/contract/${market}?call=close() returns (bool)`,
    ),
    network("contract-none", "An address without a contract", `/contract/${alice}`),
    network("contract", "What a contract can be asked", `/contract/${market}`),
    network("contract-answer", "Its answer", `/contract/${market}?call=feeBps()`),
    network(
      "contract-wrong",
      "An argument that cannot be",
      `/contract/${market}?call=isPaid(bytes32)&argument=0x12`,
    ),
    network("contract-token", "A token's functions", `/contract/${rupiah}`),
    network("contract-unknown", "A contract without an ABI", `/contract/${crates}`),
    network("contract-none", "No contract", `/contract/${bob}`),
    network("design", "The elements of all pages", "/design"),
    network("search", "Search with several hits", "/search?q=v"),
    network("search-empty", "Search without a hit", "/search?q=nobody"),
    network("search-start", "Search for nothing", "/search"),
    network("network", "The network", "/network"),
    network("health", "The network's health", "/network/health"),
    network("docs", "The API's reference", "/docs"),
    network("design", "Every element of the pages", "/design"),
    network("missing", "A page that is not there", "/nothing/here"),
    network("block-future", "A block that does not exist yet", "/block/99999"),
    network("cursor-gone", "A list that has changed", "/blocks?cursor=MTk5LjE"),
    stalled("stalled-home", "Home, the chain stalled", "/"),
    stalled("stalled-health", "Health, the chain stalled", "/network/health"),
    behind("behind-home", "Home, the index behind", "/"),
    behind("behind-blocks", "Blocks, the index behind", "/blocks"),
    behind("behind-address", "An account, the index behind", `/address/${bob}`),
    indexAway("index-away-home", "Home, the index away", "/"),
    indexAway("index-away-blocks", "Blocks, the index away", "/blocks?limit=50"),
    indexAway("index-away-address", "An account, the index away", `/address/${bob}`),
    chainAway("chain-away-home", "Home, the chain away", "/"),
    chainAway("chain-away-tx", "A transaction, the chain away", `/tx/${hashes.payment}`),
    {
      name: "limited",
      title: "Too many requests",
      path: "/docs",
      site: (sites: ExplorerSites) => sites.limited(),
    },
    empty("empty-home", "Home of a chain without anything", "/"),
    empty("empty-transactions", "Transactions of an empty chain", "/txs"),
    empty("empty-tokens", "Tokens of an empty chain", "/tokens"),
    empty("empty-validators", "Validators of a development chain", "/validators"),
    empty("empty-burns", "Burns of an empty chain", "/burns"),
    empty("empty-contracts", "Contracts of an empty chain", "/contracts"),
    empty("empty-health", "Health of a development chain", "/network/health"),
  ];
}
