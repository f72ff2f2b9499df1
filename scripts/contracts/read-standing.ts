import { z } from "zod";
import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import type { RpcAnswer, RpcClient } from "../../lib/chain/rpc-client.ts";
import { bytes, quantity } from "../../lib/chain/rpc-values.ts";
import { CommandError } from "../../lib/cli/command.ts";
import { feeCollectorArtifact, feeCollectorInterface } from "../../lib/fee-collector/artifacts.ts";
import { burnSinkAddress, burnSinkCode, create2Factory } from "../../lib/fee-collector/fee-addresses.ts";
import type { FeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import { type FeeSource, feeSources, sourceBytes } from "../../lib/fee-collector/fee-sources.ts";

/** What the chain has of the contracts that the settings name. */
export type ContractsStanding = {
  chainId: number;
  /** Without it nothing can be deployed. */
  hasFactory: boolean;
  burnSink: "missing" | "right" | "different";
  feeCollector: "missing" | "right" | "different";
  /** What the contract says of itself; undefined where it is not there. */
  says?: { owner: string; treasury: string; burnSink: string };
  /** Signers of the settings that the contract does not know. */
  missingSigners: { source: FeeSource; signer: string }[];
};

type Asks = Pick<RpcClient, "askAll">;

/** Looks, and changes nothing. @throws ChainUnavailableError, or CommandError where the node refuses to be asked. */
export async function readStanding({
  rpc,
  settings,
}: {
  rpc: Asks;
  settings: FeeSettings;
}): Promise<ContractsStanding> {
  const { feeCollector } = settings;
  const [chainId, ...codes] = await rpc.askAll([
    { method: "eth_chainId", params: [] },
    ...[create2Factory, burnSinkAddress, feeCollector].map((address) => ({
      method: "eth_getCode",
      params: [address, "latest"],
    })),
  ]);
  const [factoryCode, sinkCode, collectorCode] = codes.map((answer) => bytes.parse(resultOf(answer)));
  const all = feeSources.flatMap((source) => settings.signers[source].map((signer) => ({ source, signer })));
  const standing = {
    chainId: quantity.parse(resultOf(chainId)),
    hasFactory: factoryCode !== "0x",
    burnSink: compare(sinkCode, (code) => code === burnSinkCode),
    feeCollector: compare(collectorCode, isFeeCollector),
  };
  if (standing.feeCollector !== "right") return { ...standing, missingSigners: all };
  const [owner, treasury, burnSink, ...allowed] = await readContract({
    rpc,
    feeCollector,
    calls: [
      ["owner", []],
      ["treasury", []],
      ["BURN_SINK", []],
      ...all.map(({ source, signer }) => ["isSigner", [sourceBytes(source), signer]] as const),
    ],
  });
  return {
    ...standing,
    says: { owner: addressOf(owner), treasury: addressOf(treasury), burnSink: addressOf(burnSink) },
    missingSigners: all.filter((_signer, index) => allowed[index] !== true),
  };
}

/** The first value that each function answers. */
export async function readContract({
  rpc,
  feeCollector,
  calls,
}: {
  rpc: Asks;
  feeCollector: string;
  calls: readonly (readonly [name: string, values: readonly unknown[]])[];
}): Promise<unknown[]> {
  const answers = await rpc.askAll(
    calls.map(([name, values]) => ({
      method: "eth_call",
      params: [
        { to: feeCollector, data: feeCollectorInterface.encodeFunctionData(name, [...values]) },
        "latest",
      ],
    })),
  );
  return calls.map(([name], index) => {
    const [value]: unknown[] = feeCollectorInterface.decodeFunctionResult(
      name,
      bytes.parse(resultOf(answers[index])),
    );
    return value;
  });
}

export function resultOf(answer: RpcAnswer | undefined): unknown {
  if (answer !== undefined && "result" in answer) return answer.result;
  throw new CommandError(`the node refuses: ${answer?.error.message ?? "it does not answer"}`, {
    exitCode: 1,
  });
}

function addressOf(value: unknown): string {
  return checksumAddress(z.string().parse(value));
}

function compare(
  code: string | undefined,
  isRight: (code: string) => boolean,
): ContractsStanding["feeCollector"] {
  if (code === undefined || code === "0x") return "missing";
  return isRight(code) ? "right" : "different";
}

/** The compiled code, but for the places where its constructor has written. */
function isFeeCollector(code: string): boolean {
  const { runtimeCode, immutables } = feeCollectorArtifact;
  if (code.length !== runtimeCode.length) return false;
  const found = Buffer.from(code.slice(2), "hex");
  for (const { start, length } of immutables) found.fill(0, start, start + length);
  return `0x${found.toString("hex")}` === runtimeCode;
}
