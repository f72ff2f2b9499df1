/** The fields of a response's head that its reader needs. */
export type HeadFields = {
  status: number;
  /** How the body ends (RFC 9112 section 6.3): after so many bytes, with the last chunk, or with the connection. */
  framing: number | "chunked" | "until close";
  /** Whether the connection may carry another request (RFC 9112 section 9.3). */
  mayReuse: boolean;
  /** How long the server keeps the connection, as it says. */
  keepAliveMs: number | undefined;
};

const headBytesMax = 16 * 1024;

/** Reads the heads of responses, each of which may come in several pieces. */
export function createHeadReader() {
  /** The beginning of a head whose end has not come yet. */
  let pending: Buffer | undefined;
  let fields: HeadFields | undefined;

  return {
    /** The head that the last `take` has completed. */
    fields: () => fields,
    /** Takes bytes from `at` on. Returns where to go on, or -1 where they are malformed. */
    take(bytes: Buffer, at: number): number {
      fields = undefined;
      const before = pending;
      const all = before === undefined ? bytes.subarray(at) : Buffer.concat([before, bytes.subarray(at)]);
      const end = all.indexOf("\r\n\r\n");
      if (end === -1 || end > headBytesMax) {
        if (all.length > headBytesMax) return -1;
        pending = before === undefined ? Buffer.from(all) : all;
        return bytes.length;
      }
      pending = undefined;
      const read = readHead(all.toString("latin1", 0, end));
      if (read === "malformed" || read.status === 101) return -1;
      fields = read;
      return at + end + 4 - (before?.length ?? 0);
    },
    clear(): void {
      pending = undefined;
      fields = undefined;
    },
  };
}

const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/;
/** RFC 9110 section 5.1: a name is a token, and the colon follows at once. Continued lines (obs-fold) are refused. */
const fieldLine = /^([!#$%&'*+.^_`|~0-9a-z-]+):[ \t]*(.*?)[ \t]*$/i;

/** Reads a head without its empty line at the end. A line feed or carriage return by itself is malformed. */
function readHead(text: string): HeadFields | "malformed" {
  const [first = "", ...lines] = text.split("\r\n");
  const start = statusLine.exec(first);
  if (start === null || /[\r\n]/.test(first)) return "malformed";
  let length: number | undefined;
  let isChunked = false;
  let connection = "";
  let keepAliveMs: number | undefined;
  for (const line of lines) {
    const field = fieldLine.exec(line);
    if (field === null || line.includes("\r")) return "malformed";
    const [, name = "", value = ""] = field;
    switch (name.toLowerCase()) {
      case "content-length":
        // Twice, even with the same number, is how responses are split.
        if (length !== undefined || !/^\d{1,15}$/.test(value)) return "malformed";
        length = Number(value);
        break;
      case "transfer-encoding":
        if (isChunked || value.toLowerCase() !== "chunked") return "malformed";
        isChunked = true;
        break;
      case "connection":
        connection += `,${value.toLowerCase()}`;
        break;
      case "keep-alive":
        keepAliveMs = readTimeout(value);
        break;
    }
  }
  if (isChunked && length !== undefined) return "malformed";
  const framing = isChunked ? "chunked" : (length ?? "until close");
  const options = connection.split(",").map((option) => option.trim());
  const isKept = start[1] === "1" ? !options.includes("close") : options.includes("keep-alive");
  return { status: Number(start[2]), framing, mayReuse: isKept && framing !== "until close", keepAliveMs };
}

/** `timeout=5, max=100`, in seconds. */
function readTimeout(value: string): number | undefined {
  const seconds = /(?:^|[,; ])timeout=(\d{1,6})(?:$|[,; ])/i.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
