import { AbiCoder } from "ethers/abi";

/** What a contract returned beyond this is not decoded: it takes milliseconds a kilobyte. */
export const decodedBytesMax = 16_384;
/**
 * ABI data may point to one place many times, so that few bytes become very many values. Data as compilers write it is
 * read once; ethers would go on until 1024 times.
 */
const inflationMax = 8;

AbiCoder._setDefaultMaxInflation(inflationMax);

/** Decodes data that a stranger's contract made. */
export const boundedCoder = new AbiCoder();
