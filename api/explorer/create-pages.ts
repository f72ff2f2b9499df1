import type { PageRoute } from "./page-route.ts";
import { address } from "./pages/address.ts";
import { block } from "./pages/block.ts";
import { blocks } from "./pages/blocks.ts";
import { burns } from "./pages/burns.ts";
import { contract } from "./pages/contract.ts";
import { contracts } from "./pages/contracts.ts";
import { design } from "./pages/design.ts";
import { type Documented, docsPage } from "./pages/docs.ts";
import { health } from "./pages/health.ts";
import { home } from "./pages/home.ts";
import { network } from "./pages/network.ts";
import { search } from "./pages/search.ts";
import { token, tokens } from "./pages/tokens.ts";
import { transaction } from "./pages/transaction.ts";
import { transactions } from "./pages/transactions.ts";
import { validator, validators } from "./pages/validators.ts";

/** Every page of the explorer. */
export function createPages({
  routes,
  isDevelopment,
}: {
  /** What the reference page describes. */
  routes: readonly Documented[];
  isDevelopment: boolean;
}): PageRoute[] {
  return [
    home,
    blocks,
    block,
    transactions,
    transaction,
    address,
    tokens,
    token,
    validators,
    validator,
    burns,
    contracts,
    contract,
    search,
    network,
    health,
    docsPage(routes),
    ...(isDevelopment ? [design] : []),
  ];
}
