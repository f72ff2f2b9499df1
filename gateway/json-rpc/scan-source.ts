/**
 * The bytes under the scanner: a copy of a body with a NUL behind its last byte. JSON text holds no NUL, so every loop
 * of the scanner ends there by itself and none has to compare its place with the length.
 */
export type ScanSource = {
  view: DataView;
  bytes: Buffer;
  length: number;
  /** The bytes, one character each (latin1). What the scanner yields is cut from it: one copy, not one a span. */
  text: string;
};

/** Bodies up to this size are copied to the same place again and again; a larger one gets memory of its own. */
const usualBytesMax = 1024 * 1024;

/** Four bytes more than a body: four are read at its very end. */
const bytesBehind = 4;

const usual = createSource(usualBytesMax);

/** Memory that was made with the NUL and room behind its bytes: it is scanned where it is. */
const ended = new WeakSet<ArrayBufferLike>();

/**
 * Good until the next call: scanning is synchronous, and what it yields are strings. Copying is cheaper (19 ns for a
 * usual body) than a new DataView over the body (68 ns).
 */
export function loadSource(body: Uint8Array): ScanSource {
  const source = body.length <= usualBytesMax ? usual : createSource(body.length);
  source.bytes.set(body);
  source.view.setUint8(body.length, 0);
  source.length = body.length;
  source.text = source.bytes.toString("latin1", 0, body.length);
  return source;
}

/** The same without a text of the whole. What `joinChunks` made is not copied. */
export function loadView(body: Uint8Array): DataView {
  if (body.length <= usualBytesMax) {
    usual.bytes.set(body);
    usual.view.setUint8(body.length, 0);
    return usual.view;
  }
  const { buffer, byteOffset, length } = body;
  const isWholeOf = byteOffset === 0 && buffer.byteLength === length + bytesBehind;
  if (isWholeOf && ended.has(buffer)) return new DataView(buffer);
  const { bytes, view } = createSource(length);
  bytes.set(body);
  return view;
}

/** Joins the pieces of a body of so many bytes in memory that can be scanned where it is. */
export function joinChunks(chunks: readonly Uint8Array[], length: number): Buffer {
  const memory = new ArrayBuffer(length + bytesBehind);
  const bytes = Buffer.from(memory, 0, length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  ended.add(memory);
  return bytes;
}

function createSource(bytesMax: number): ScanSource {
  const buffer = new ArrayBuffer(bytesMax + bytesBehind);
  return { view: new DataView(buffer), bytes: Buffer.from(buffer), length: 0, text: "" };
}
