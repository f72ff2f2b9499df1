import { z } from "zod";
import { facts } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { pageRoute } from "../page-route.ts";

export const network = pageRoute({
  path: "/network",
  entry: "network",
  params: z.object({}),
  query: z.object({}),
  async render({ texts, el, read, settings }) {
    const chain = await read.chain();
    const { network: words } = texts;
    const { symbol, name, decimals } = chain.nativeCurrency;
    const outside = (href: string, text: string): Html =>
      href === "" ? html`` : html`<p><a class="button" href="${href}">${text}</a></p>`;
    return {
      title: words.title,
      description: words.intro,
      main: html`<div class="intro"><h1>${words.title}</h1><p>${words.intro}</p></div>
<section class="card"><h2>${words.parameters}</h2>
${facts([
  [words.name, chain.name],
  [words.chainId, el.copyable(String(chain.chainId), html`${String(chain.chainId)} (${chain.chainIdHex})`)],
  [words.currency, `${name}, ${symbol}, ${words.decimals(decimals)}`],
  [words.consensus, words.consensusKinds[chain.consensus]],
  [words.blockTime, texts.units.seconds(el.integer(chain.blockTimeSeconds))],
  chain.validatorCount === 0 ? undefined : [words.validators, el.integer(chain.validatorCount)],
  chain.validatorCount === 0
    ? undefined
    : [words.quorum, texts.block.quorumOf(chain.quorum, chain.validatorCount)],
  [words.genesis, el.bytes(chain.genesisHash)],
])}
</section>
<section class="card"><h2>${words.use}</h2>
<p>${words.useKey}</p>
<p>${words.useProxy}</p>
${outside(settings.walletProxyUrl, words.walletProxy)}
<p>${words.useFaucet}</p>
${outside(settings.faucetUrl, words.faucet)}
</section>
<section class="card"><h2>${words.status}</h2>
<p>${el.link("network/health", texts.health.title)}</p>
<p>${el.link("docs", words.machine)}</p>
</section>`,
    };
  },
});
