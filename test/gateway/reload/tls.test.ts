import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { servedBy, writeCertificate } from "../../helpers/certificate.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { startReloadable } from "./reload-rig.ts";

t.test("another certificate serves new connections; one that cannot be used changes nothing", async (t) => {
  const folder = testFolder(t);
  const filesOf = async (commonName: string) => {
    mkdirSync(join(folder, commonName));
    const { certFile, keyFile } = await writeCertificate(join(folder, commonName), { commonName });
    return { certFile, keyFile };
  };
  const [first, second] = [await filesOf("first"), await filesOf("second")];
  const { gateway, write, reload } = await startReloadable(t, {
    change: (config) => ({ ...config, tls: first }),
  });
  t.equal(await servedBy(gateway.port), "first");

  write({ tls: { ...first, keyFile: second.keyFile } });
  t.match(await reload(), { status: 409, body: { problems: [/^tls: .*is not the key of the certificate/] } });
  t.equal(await servedBy(gateway.port), "first");
  write({ tls: undefined });
  t.match(await reload(), {
    status: 409,
    body: { problems: ["tls cannot be turned on or off without a restart"] },
  });

  write({ tls: second });
  t.match(await reload(), { status: 200, body: { outcome: "changed" } });
  t.equal(await servedBy(gateway.port), "second");
  writeFileSync(second.keyFile, "nothing");
  t.match(await reload(), { status: 409, body: { problems: [/^tls: /] } });
  t.equal(await servedBy(gateway.port), "second");
});
