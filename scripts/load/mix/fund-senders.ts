import { setTimeout as sleep } from "node:timers/promises";
import { SigningKey } from "ethers/crypto";
import { computeAddress } from "ethers/transaction";
import { parseEther } from "ethers/utils";
import { type AskGateway, askEach, GatewayError, quantitySchema, readAnswer } from "../http/ask-gateway.ts";
import { signTransfer } from "./sign-transfer.ts";

const plainTransferGas = 21_000;
const minedWithinMs = 60_000;
const pollMs = 250;
/** The first public account of the mnemonic "test test test … junk", which anvil funds on every chain that it makes. */
const anvilKey = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/**
 * Gives each sender that holds less than `fundTokens` that amount, from the funder's account, and waits until all of it is
 * mined. Without a funder's key that of anvil is used, and only where the chain says that it is anvil.
 *
 * @throws GatewayError that says what is missing.
 */
export async function fundSenders({
  ask,
  addresses,
  funder,
  fundTokens,
  gasPriceWei,
  chainId,
  say,
}: {
  ask: AskGateway;
  addresses: readonly string[];
  funder: SigningKey | undefined;
  fundTokens: string;
  gasPriceWei: bigint;
  chainId: bigint;
  say: (text: string) => void;
}): Promise<void> {
  const fundWei = parseEther(fundTokens);
  const balances = await askEach(ask, addresses, (address) => ({
    method: "eth_getBalance",
    params: [address, "latest"],
  }));
  const poor = addresses.filter((_, index) => readWei(balances[index]) < fundWei);
  if (poor.length === 0) return;
  const key = funder ?? ((await isAnvil(ask)) ? new SigningKey(anvilKey) : undefined);
  if (key === undefined) {
    throw new GatewayError(
      `${poor.length} of ${addresses.length} senders hold less than ${fundTokens} tokens. Name the account that funds ` +
        "them with --funder-key-file FILE (a file with its private key); without it only a chain of anvil can be used.",
    );
  }
  say(`Funding ${poor.length} senders with ${fundTokens} tokens each from ${computeAddress(key)} …`);
  const from = computeAddress(key);
  const [firstNonce, balance] = await ask([
    { method: "eth_getTransactionCount", params: [from, "pending"] },
    { method: "eth_getBalance", params: [from, "latest"] },
  ]);
  const each = fundWei + gasPriceWei * BigInt(plainTransferGas);
  if (readWei(balance) < each * BigInt(poor.length)) {
    throw new GatewayError(
      `The funder ${from} holds less than the ${fundTokens} × ${poor.length} tokens that the senders need: ` +
        "lower senders.count or senders.fundTokens in the mix, or name a richer account.",
    );
  }
  const nonce = Number(readAnswer(firstNonce, { schema: quantitySchema, method: "eth_getTransactionCount" }));
  const hashes = await askEach(ask, poor, (to, index) => ({
    method: "eth_sendRawTransaction",
    params: [
      signTransfer(key, {
        to,
        valueWei: fundWei,
        data: "0x",
        gas: plainTransferGas,
        nonce: nonce + index,
        gasPriceWei,
        chainId,
      }).raw,
    ],
  }));
  await waitUntilMined(ask, hashes);
}

async function waitUntilMined(ask: AskGateway, hashes: readonly unknown[]): Promise<void> {
  const endsAtMs = performance.now() + minedWithinMs;
  let waiting = hashes;
  for (;;) {
    const receipts = await askEach(ask, waiting, (hash) => ({
      method: "eth_getTransactionReceipt",
      params: [hash],
    }));
    waiting = waiting.filter((_, index) => receipts[index] === null);
    if (waiting.length === 0) return;
    if (performance.now() > endsAtMs) {
      throw new GatewayError(
        `${waiting.length} of ${hashes.length} funding transactions are not mined after ${minedWithinMs / 1000} s. ` +
          "Does the chain make blocks?",
      );
    }
    await sleep(pollMs);
  }
}

async function isAnvil(ask: AskGateway): Promise<boolean> {
  const [version] = await ask([{ method: "web3_clientVersion", params: [] }]);
  return typeof version === "string" && version.startsWith("anvil/");
}

function readWei(answer: unknown): bigint {
  return readAnswer(answer, { schema: quantitySchema, method: "eth_getBalance" });
}
