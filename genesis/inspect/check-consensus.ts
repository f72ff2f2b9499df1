import { type Consensus, decodeExtraData, type ExtraData } from "../../lib/ibft/extra-data.ts";
import { quorumOf } from "../../lib/ibft/quorum.ts";
import { validatorsForOneFault } from "../config.ts";
import { type Finding, problem, remark } from "./finding.ts";
import { type GenesisView, isObject, type JsonObject } from "./read-genesis.ts";

export type ConsensusView = {
  consensus: Consensus | undefined;
  extraData: ExtraData | undefined;
  bft: JsonObject;
  findings: Finding[];
};

const names = { ibft2: "IBFT 2.0", qbft: "QBFT" } as const;
const noAddress = `0x${"00".repeat(20)}`;

/** Who makes blocks, and in which rhythm. */
export function checkConsensus({ root, config }: GenesisView): ConsensusView {
  const findings: Finding[] = [];
  const consensus = readConsensus(config, findings);
  const settings = consensus === undefined ? undefined : config[consensus];
  const bft = isObject(settings) ? lowerKeys(settings) : {};
  if (consensus !== undefined) {
    const noObject = `"${consensus}" is ${JSON.stringify(settings)}; an object was expected`;
    findings.push(...(isObject(settings) ? checkRhythm(consensus, bft) : [problem(noObject)]));
  }
  const extraData = readExtraData(root["extradata"], findings);
  if (extraData !== undefined) findings.push(...checkForm(consensus, extraData));
  const contract = consensus === "qbft" ? bft["validatorcontractaddress"] : undefined;
  if (contract !== undefined) {
    findings.push(remark(`the contract ${JSON.stringify(contract)} says who validates, extraData does not`));
  } else if (extraData !== undefined) findings.push(...checkValidators(extraData.validators));
  return { consensus, extraData, bft, findings };
}

function readConsensus(config: JsonObject, findings: Finding[]): Consensus | undefined {
  const found = (["ibft2", "qbft"] as const).filter((name) => name in config);
  if (found.length === 2) {
    findings.push(
      remark(
        '"config" has both ibft2 and qbft: Besu takes that for a migration from IBFT 2.0 to QBFT at its startBlock',
      ),
    );
  }
  const [consensus] = found;
  if (consensus === undefined) {
    const other = ["ibft", "clique", "ethash"].find((name) => name in config);
    const instead = other === undefined ? "" : ` (it has "${other}")`;
    findings.push(
      problem(`"config" has neither ibft2 nor qbft${instead}: Besu would not know who makes blocks`),
    );
  }
  return consensus;
}

function checkRhythm(consensus: Consensus, bft: JsonObject): Finding[] {
  const findings: Finding[] = [];
  const positive = (name: string, besuDefault: number): number => {
    const value = bft[name];
    if (value === undefined) {
      findings.push(remark(`${consensus}.${name} is missing: Besu takes ${besuDefault}`));
      return besuDefault;
    }
    if (typeof value === "number" && Number.isInteger(value) && value > 0) return value;
    findings.push(
      problem(`${consensus}.${name} is ${JSON.stringify(value)}; a whole number above 0 was expected`),
    );
    return besuDefault;
  };
  const blockSeconds = positive("blockperiodseconds", 1);
  const timeoutSeconds = positive("requesttimeoutseconds", 1);
  positive("epochlength", 30_000);
  if (timeoutSeconds <= blockSeconds) {
    findings.push(
      problem(
        `requesttimeoutseconds (${timeoutSeconds}) is not above blockperiodseconds (${blockSeconds}): ` +
          "rounds would end before their block",
      ),
    );
  }
  if (blockSeconds > 600) {
    findings.push(remark(`blockperiodseconds is ${blockSeconds}: seconds are meant, not milliseconds`));
  }
  return findings;
}

function readExtraData(value: unknown, findings: Finding[]): ExtraData | undefined {
  if (typeof value !== "string") {
    const found = value === undefined ? "missing" : `${JSON.stringify(value)}, not text`;
    findings.push(problem(`extraData is ${found}: it names the validators`));
    return undefined;
  }
  const decoded = decodeExtraData(value);
  if ("extraData" in decoded) return decoded.extraData;
  findings.push(problem(decoded.problem));
  return undefined;
}

function checkForm(consensus: Consensus | undefined, extraData: ExtraData): Finding[] {
  const findings: Finding[] = [];
  if (consensus !== undefined && consensus !== extraData.consensus) {
    findings.push(
      problem(
        `extraData has the form of ${names[extraData.consensus]} while "config" says ${names[consensus]}: Besu cannot read it`,
      ),
    );
  }
  if (extraData.round !== 0)
    findings.push(problem(`extraData has round ${extraData.round}; a genesis block has 0`));
  if (extraData.vote !== undefined)
    findings.push(problem("extraData has a vote; in a genesis block nobody votes"));
  if (extraData.seals.length > 0) {
    findings.push(problem(`extraData has ${extraData.seals.length} seals; nobody seals a genesis block`));
  }
  return findings;
}

function checkValidators(validators: readonly string[]): Finding[] {
  if (validators.length === 0) return [problem("extraData names no validator: no block can be made")];
  const findings: Finding[] = [];
  const doubled = validators.filter((address, index) => validators.indexOf(address) !== index);
  for (const address of new Set(doubled)) {
    findings.push(
      problem(`validator ${address} stands there twice: it counts for the quorum but can seal only once`),
    );
  }
  if (validators.includes(noAddress)) findings.push(problem("the address 0x00…00 is named as a validator"));
  const quorum = quorumOf(validators.length);
  if (validators.length < validatorsForOneFault) {
    findings.push(
      problem(
        `there are ${validators.length} validators, fewer than ${validatorsForOneFault}: a quorum is ${quorum}, and no ` +
          "faulty one can be borne",
      ),
    );
  }
  const unreachable = validators.length - new Set(doubled).size < quorum;
  if (unreachable) findings.push(problem(`a quorum of ${quorum} cannot be reached: no block can be made`));
  if (validators.some((address, index) => index > 0 && address < (validators[index - 1] ?? ""))) {
    findings.push(
      remark(
        "the validators are not in ascending order, as live headers have them (Besu's own tool does not sort)",
      ),
    );
  }
  return findings;
}

function lowerKeys(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key.toLowerCase(), value]));
}
