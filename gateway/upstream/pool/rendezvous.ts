/**
 * How strongly a name is drawn to a validator (rendezvous hashing): whoever has the highest score gets it. Every replica
 * finds the same, and where one validator goes only its own names move. FNV-1a, then the finalizer of MurmurHash3.
 */
export function rendezvousScore(name: string, validator: string): number {
  let hash = 0x811c9dc5;
  for (const text of [validator, "\n", name]) {
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
