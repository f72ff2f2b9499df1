export const slotsCount = 16_384;

/**
 * The slot of a key in Redis Cluster: CRC-16 (XMODEM) of its hash tag, or of the whole key where it has none, modulo
 * 16 384. https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#key-distribution-model
 */
export function hashSlot(key: string): number {
  return crc16(Buffer.from(hashTag(key))) % slotsCount;
}

/** What stands between the first `{` and the first `}` behind it, unless that is nothing. */
function hashTag(key: string): string {
  const open = key.indexOf("{");
  if (open === -1) return key;
  const close = key.indexOf("}", open + 1);
  return close === -1 || close === open + 1 ? key : key.slice(open + 1, close);
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x80_00) === 0 ? crc << 1 : (crc << 1) ^ 0x10_21;
    crc &= 0xff_ff;
  }
  return crc;
}
