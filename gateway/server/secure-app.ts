import type { Logger } from "pino";
import { type Certificate, CertificateError, readCertificate, type TlsFiles } from "./certificate.ts";
import { SSLApp, type TemplatedApp } from "./uws.ts";

/** Adds the routes to an app; `count` gets 1 for each connection that opens and -1 for each that closes. */
export type Serve = (app: TemplatedApp, count?: (opened: number) => void) => TemplatedApp;

export type SecureApp = {
  /** Accepts connections, to be listened with. */
  acceptor: TemplatedApp;
  certificate(): Certificate;
  /** Takes the certificate of other files, where it can be used, as when the files change. */
  useFiles(files: TlsFiles): void;
  /** Closes every connection. */
  close(): void;
};

/** Two small files are read this often, so a renewed certificate serves at once, however it was replaced. */
const checkIntervalMs = 1000;
const expiryWarningMs = 14 * 24 * 60 * 60_000;

type Served = { app: TemplatedApp; connections: number };

/**
 * HTTPS whose certificate is read again when its files change. The library reads a certificate only when an app is made. So
 * one app accepts the connections and hands each to the newest of the apps behind it. Open connections keep the app, and
 * the certificate, that they began with.
 *
 * @throws CertificateError where the files cannot be used at the start; later ones are logged, and the old certificate
 * goes on.
 */
export function createSecureApp({
  files: firstFiles,
  serve,
  logger,
}: {
  files: TlsFiles;
  serve: Serve;
  logger: Logger;
}): SecureApp {
  let files = firstFiles;
  let certificate = readCertificate(files);
  // It serves no request, but has to be a TLS app like those behind it: a plain one corrupts their memory.
  const acceptor = createApp();
  const retired = new Set<Served>();
  let current = add();
  let lastProblem = "";
  tell();

  const timer = setInterval(renew, checkIntervalMs);
  timer.unref();

  function createApp(): TemplatedApp {
    return SSLApp({ cert_file_name: files.certFile, key_file_name: files.keyFile });
  }

  function add(): Served {
    const app = createApp();
    const served: Served = { app, connections: 0 };
    serve(app, (opened) => {
      served.connections += opened;
      if (retired.has(served)) setImmediate(closeIfIdle, served);
    });
    acceptor.addChildAppDescriptor(app.getDescriptor());
    return served;
  }

  function closeIfIdle(served: Served): void {
    if (served.connections === 0 && retired.delete(served)) served.app.close();
  }

  function renew(): void {
    try {
      const found = readCertificate(files);
      if (found.digest === certificate.digest) return;
      const previous = current;
      current = add();
      certificate = found;
      acceptor.removeChildAppDescriptor(previous.app.getDescriptor());
      retired.add(previous);
      // A connection that was just accepted is still on its way to the retired app.
      setTimeout(closeIfIdle, checkIntervalMs, previous).unref();
      lastProblem = "";
      tell();
    } catch (error) {
      const problem = error instanceof CertificateError ? error.message : "the certificate was not taken";
      // The files do not fit for a moment while they are replaced. A problem that lasts is logged once.
      if (problem !== lastProblem) logger.warn({ err: error }, `${problem}; the old certificate goes on`);
      lastProblem = problem;
    }
  }

  function tell(): void {
    const { names, expiresAtMs } = certificate;
    const expiresAt = new Date(expiresAtMs).toISOString();
    if (expiresAtMs - Date.now() > expiryWarningMs) logger.info({ names, expiresAt }, "TLS certificate");
    else logger.warn({ names, expiresAt }, "the TLS certificate expires soon, or has expired: renew it");
  }

  return {
    acceptor,
    certificate: () => certificate,
    useFiles(others) {
      files = others;
      renew();
    },
    close() {
      clearInterval(timer);
      acceptor.close();
      for (const { app } of [current, ...retired]) app.close();
      retired.clear();
    },
  };
}
