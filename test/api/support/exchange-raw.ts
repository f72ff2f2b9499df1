import { once } from "node:events";
import { connect } from "node:net";

/** Sends a text as it is, and reads the first answer until the server closes or the body is whole. */
export async function exchangeRaw(
  url: string,
  text: string,
): Promise<{ status: number; head: string; body: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  socket.write(text);
  let received = "";
  socket.setEncoding("utf8");
  for await (const chunk of socket) {
    received += String(chunk);
    if (isWhole(received)) break;
  }
  socket.destroy();
  const [head = "", body = ""] = received.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head, body };
}

function isWhole(received: string): boolean {
  const [head = "", body] = received.split("\r\n\r\n");
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
  return body !== undefined && Buffer.byteLength(body) >= length;
}
