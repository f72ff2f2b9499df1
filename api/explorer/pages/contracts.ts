import { z } from "zod";
import { table } from "../../../lib/web/elements/table.ts";
import { html } from "../../../lib/web/html.ts";
import type { ContractsRecord } from "../../records/chain.ts";
import { empty } from "../lists.ts";
import { pageRoute } from "../page-route.ts";

export const contracts = pageRoute({
  path: "/contracts",
  entry: "contracts",
  params: z.object({}),
  query: z.object({}),
  async render({ texts, el, read }) {
    const { data } = await read.networkContracts();
    const { title, intro, caption, none } = texts.contracts;
    const list =
      data.length === 0
        ? empty(none)
        : table<ContractsRecord["data"][number]>({
            caption,
            rows: data,
            columns: [
              {
                title: texts.contracts.name,
                cell: ({ name, address }) => el.link(`contract/${address}`, name),
              },
              { title: texts.contracts.address, cell: ({ address }) => el.addressLink(address) },
              {
                title: texts.contracts.deployed,
                number: true,
                cell: ({ deployedAtBlock }) =>
                  deployedAtBlock === null ? "–" : el.blockLink(deployedAtBlock),
              },
              {
                title: texts.contracts.abi,
                cell: ({ abiUrl }) => el.link(abiUrl.slice(1), "JSON"),
              },
            ],
          });
    return {
      title,
      description: intro,
      main: html`<div class="intro"><h1>${title}</h1><p>${intro}</p></div><section class="card">${list}</section>`,
    };
  },
});
