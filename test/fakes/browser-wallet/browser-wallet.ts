import { readFileSync } from "node:fs";
import { JsonRpcProvider } from "ethers/providers";
import { getBytes, hexlify, toUtf8String } from "ethers/utils";
import { Wallet } from "ethers/wallet";
import type { BrowserContext } from "playwright-core";

const injected = readFileSync(new URL("injected-wallet.js", import.meta.url), "utf8");

export type BrowserWallet = {
  name: string;
  rdns: string;
  address: string;
  /** What it was asked, in order. */
  asked: { method: string; params: readonly unknown[] }[];
  /** Methods that its owner declines from now on. */
  declines: Set<string>;
  /** In which network it is, and which it knows; hexadecimal. */
  chainId: string;
  knows: Set<string>;
  /** In place of its own account, where its owner has chosen another. */
  account: string;
  answer(method: string, params: readonly unknown[]): Promise<unknown>;
};

/** What EIP-1193 and EIP-3326 name. */
const declined = { code: 4001, message: "User rejected the request." };
const unknownChain = { code: 4902, message: "Unrecognized chain ID." };
const unsupported = { code: 4200, message: "The provider does not support the method." };

/**
 * A wallet of a browser (EIP-1193, EIP-6963) that signs for real, with a key, and sends to a real node. It writes its address
 * in lower case, as MetaMask does, and is in another network until it is asked.
 */
export function createBrowserWallet({
  name,
  rdns = `example.${name.toLowerCase().replaceAll(" ", "-")}`,
  privateKey,
  rpcUrl,
}: {
  name: string;
  rdns?: string;
  privateKey: string;
  rpcUrl: string;
}): BrowserWallet {
  const signer = new Wallet(privateKey);
  const { address } = signer;
  const wallet: BrowserWallet = {
    ...{ name, rdns, address, asked: [], declines: new Set(), chainId: "0x1", knows: new Set(["0x1"]) },
    account: address,
    async answer(method, params) {
      wallet.asked.push({ method, params });
      if (wallet.declines.has(method)) throw declined;
      const [first] = params;
      if (method === "eth_chainId") return wallet.chainId;
      if (method === "eth_requestAccounts" || method === "eth_accounts")
        return [wallet.account.toLowerCase()];
      if (method === "wallet_switchEthereumChain") {
        const chainId = memberOf(first, "chainId");
        if (!wallet.knows.has(chainId)) throw unknownChain;
        wallet.chainId = chainId;
        return null;
      }
      if (method === "wallet_addEthereumChain") {
        wallet.chainId = memberOf(first, "chainId");
        wallet.knows.add(wallet.chainId);
        return null;
      }
      if (method === "personal_sign") return signer.signMessage(toUtf8String(getBytes(String(first))));
      if (method === "eth_getBalance") return onNode(rpcUrl, (node) => node.send(method, [...params]));
      if (method === "eth_sendTransaction") {
        return onNode(rpcUrl, async (node) => {
          const { hash } = await signer.connect(node).sendTransaction({
            to: memberOf(first, "to"),
            value: memberOf(first, "value"),
            data: memberOf(first, "data"),
          });
          return hash;
        });
      }
      throw unsupported;
    },
  };
  return wallet;
}

/** Puts wallets into all pages of a browser's context. */
export async function injectWallets(
  context: Pick<BrowserContext, "addInitScript" | "exposeFunction">,
  wallets: readonly BrowserWallet[],
): Promise<void> {
  await context.exposeFunction("askWallet", async (rdns: string, method: string, params: unknown[]) => {
    try {
      const wallet = wallets.find((each) => each.rdns === rdns);
      return { result: await wallet?.answer(method, params) };
    } catch (error) {
      return { error: problemOf(error) };
    }
  });
  const announced = wallets.map(({ name, rdns }) => ({ name, rdns }));
  await context.addInitScript(`globalThis.announcedWallets = ${JSON.stringify(announced)};\n${injected}`);
}

async function onNode<Value>(url: string, work: (node: JsonRpcProvider) => Promise<Value>): Promise<Value> {
  const node = new JsonRpcProvider(url, undefined, { polling: true, staticNetwork: true, batchMaxCount: 1 });
  try {
    return await work(node);
  } finally {
    node.destroy();
  }
}

function memberOf(value: unknown, name: string): string {
  const found = Object.entries(Object(value)).find(([key]) => key === name)?.[1];
  return typeof found === "string" ? found : hexlify(new Uint8Array());
}

/** As EIP-1474 numbers what a node refuses. */
function problemOf(error: unknown): { code: number; message: string } {
  const { code, message } = Object(error);
  return { code: typeof code === "number" ? code : -32603, message: String(message) };
}
