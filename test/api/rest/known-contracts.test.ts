import { Interface } from "ethers/abi";
import { id } from "ethers/hash";
import t from "tap";
import { testFolder } from "../../helpers/test-folder.ts";
import { startApi } from "../support/start-api.ts";
import { alice, startServices } from "../support/start-world.ts";

const market = `0x${"c1".repeat(20)}`;
const gate = `0x${"c2".repeat(20)}`;
const marketAbi = [
  { type: "function", name: "pay", inputs: [{ name: "order", type: "uint256" }], outputs: [] },
  { type: "event", name: "Paid", inputs: [{ name: "amount", type: "uint256" }] },
];
const gateAbi = [{ type: "error", name: "Closed", inputs: [{ name: "until", type: "uint256" }] }];
/** Emits Paid(7). */
const marketCode = `0x60076000527f${id("Paid(uint256)").slice(2)}60206000a100`;
/** Reverts with Closed(9). */
const gateCode = `0x63${id("Closed(uint256)").slice(2, 10)}60e01b600052600960045260246000fd`;
/** Hands on what the gate says: call(gas, gate, 0, 0, 0, 0, 0), returndatacopy, revert. */
const handsOn = `0x6000600060006000600073${gate.slice(2)}5af1503d600060003e3d6000fd`;
const other = `0x${"c3".repeat(20)}`;

const { anvil, ...services } = await startServices(t);
const folder = testFolder(t, {
  "market.json": JSON.stringify({ name: "Market", address: market, abi: marketAbi, deployedAtBlock: 0 }),
  "gate.json": JSON.stringify({ name: "Gate", address: gate, abi: gateAbi }),
});
for (const [address, code] of [
  [market, marketCode],
  [gate, gateCode],
  [other, handsOn],
]) {
  await anvil.rpc("anvil_setCode", [address, code]);
}
const send = async (to: string, data: string) =>
  String(await anvil.rpc("eth_sendTransaction", [{ from: alice, gas: "0x30d40", to, data }]));
const paid = await send(market, new Interface(marketAbi).encodeFunctionData("pay", [3n]));
const refused = await send(gate, "0x");
const handedOn = await send(other, "0x");
const api = await startApi(t, { ...services, change: (config) => ({ ...config, contractsFolder: folder }) });

t.test(
  "a call of a contract that was dropped into the folder, and its event, have their names",
  async (t) => {
    t.match(await api.get(`/api/v1/transactions/${paid}`), {
      status: 200,
      json: {
        status: "success",
        method: { name: "pay", signature: "pay(uint256)", arguments: [{ name: "order", value: "3" }] },
        receipt: {
          logs: [
            { contractName: "Market", event: { name: "Paid", arguments: [{ name: "amount", value: "7" }] } },
          ],
        },
      },
    });
  },
);

t.test("a revert has its custom error, also where another contract hands it on", async (t) => {
  for (const hash of [refused, handedOn]) {
    t.match(await api.get(`/api/v1/transactions/${hash}`), {
      json: {
        status: "failed",
        revert: { error: { name: "Closed", arguments: [{ name: "until", value: "9" }] } },
      },
    });
  }
});

t.test("the network's contracts are listed, each with its ABI", async (t) => {
  const { json } = await api.get("/api/v1/network/contracts");
  t.match(json, {
    data: [
      { name: "FeeCollector" },
      { name: "Gate" },
      { name: "Market", abiUrl: "/api/v1/network/contracts/Market/abi.json" },
    ],
  });
  t.same((await api.get("/api/v1/network/contracts/Market/abi.json")).json, marketAbi);
  t.match(await api.get("/api/v1/network/contracts/None/abi.json"), {
    status: 404,
    json: { code: "not_found" },
  });
});
