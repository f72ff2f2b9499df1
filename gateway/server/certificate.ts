import { createPrivateKey, hash, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

/** Paths of PEM files: the certificate, followed by its chain, and its private key, not encrypted. */
export type TlsFiles = { certFile: string; keyFile: string };

export type Certificate = {
  /** SHA-256 over both files, to see that one of them has changed. */
  digest: string;
  /** The names that it is for, from `subjectAltName`: `DNS:rpc.example, IP Address:192.0.2.1`. */
  names: string;
  /** Unix milliseconds. */
  expiresAtMs: number;
};

/** A certificate or key that cannot be used; the message names the file and says what is wrong. */
export class CertificateError extends Error {
  override name = "CertificateError";
}

/**
 * Reads a certificate and its key, and checks that they can serve together.
 * @throws CertificateError
 */
export function readCertificate({ certFile, keyFile }: TlsFiles): Certificate {
  const certText = readText(certFile);
  const keyText = readText(keyFile);
  const certificate = parseCertificate(certFile, certText);
  if (!certificate.checkPrivateKey(parseKey(keyFile, keyText))) {
    throw new CertificateError(`${keyFile} is not the key of the certificate in ${certFile}`);
  }
  return {
    digest: hash("sha256", `${certText}\0${keyText}`),
    names: certificate.subjectAltName ?? certificate.subject,
    expiresAtMs: Date.parse(certificate.validTo),
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CertificateError(`${file} cannot be read`, { cause: error });
  }
}

function parseCertificate(file: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw new CertificateError(`${file} holds no certificate (PEM, "-----BEGIN CERTIFICATE-----")`, {
      cause: error,
    });
  }
}

function parseKey(file: string, text: string): KeyObject {
  if (/^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(text)) {
    throw new CertificateError(`${file} is encrypted; decrypt it, and let only the gateway's user read it`);
  }
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw new CertificateError(`${file} holds no private key (PEM, "-----BEGIN PRIVATE KEY-----")`, {
      cause: error,
    });
  }
}
