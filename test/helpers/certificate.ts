import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { generate } from "selfsigned";

export type TestCertificate = { certFile: string; keyFile: string; certificate: string };

/** Makes a certificate for loopback that vouches for itself, and writes it and its key to `folder`. */
export async function writeCertificate(
  folder: string,
  { commonName = "tollgate test", days = 30 }: { commonName?: string; days?: number } = {},
): Promise<TestCertificate> {
  const made = await generate([{ name: "commonName", value: commonName }], {
    keyType: "ec",
    notAfterDate: new Date(Date.now() + days * 24 * 60 * 60_000),
    extensions: [
      { name: "basicConstraints", cA: true },
      {
        name: "subjectAltName",
        altNames: [
          { type: 2, value: "localhost" },
          { type: 7, ip: "127.0.0.1" },
        ],
      },
    ],
  });
  const certFile = join(folder, "tls.crt");
  const keyFile = join(folder, "tls.key");
  writeFileSync(keyFile, made.private, { mode: 0o600 });
  writeFileSync(certFile, made.cert);
  return { certFile, keyFile, certificate: made.cert };
}

/** The name in the certificate that a new connection gets. */
export async function servedBy(port: number): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const name = nameInCertificate(socket);
  socket.destroy();
  return name;
}

export function nameInCertificate(socket: TLSSocket): string {
  return String(socket.getPeerCertificate().subject.CN);
}
