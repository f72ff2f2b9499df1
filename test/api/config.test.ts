import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { pointsOf, readApiConfig } from "../../api/config.ts";
import { openMerchantKeys } from "../../api/merchant/open-merchant-keys.ts";
import { developmentSealingKey } from "../../api/merchant/secrets/read-sealing-keys.ts";
import { productionFees } from "../helpers/fee-environment.ts";
import { testFolder } from "../helpers/test-folder.ts";

const shipped = fileURLToPath(new URL("../../config/api.yaml", import.meta.url));

t.test(
  "the shipped file is the development profile's, and the environment changes what differs",
  async (t) => {
    t.match(readApiConfig({ file: shipped, env: {} }), {
      profile: "development",
      host: "127.0.0.1",
      port: 4000,
      ops: { host: "127.0.0.1", port: 5000, hosts: [] },
      origins: [],
      sealSources: [],
      contractsFolder: fileURLToPath(new URL("../../config/contracts", import.meta.url)),
    });
    const env = {
      ...productionFees,
      TOLLGATE_PROFILE: "production",
      API_ORIGINS: "https://explorer.example, https://www.example",
      API_SEAL_SOURCES: "http://10.0.0.1:8545,http://10.0.0.2:8545",
      API_UPSTREAM: "http://gateway:8540",
    };
    const config = readApiConfig({ file: shipped, env });
    t.match(config, {
      profile: "production",
      origins: ["https://explorer.example", "https://www.example"],
      sealSources: ["http://10.0.0.1:8545", "http://10.0.0.2:8545"],
      upstream: "http://gateway:8540",
    });
    t.equal(pointsOf(config), 200);
    t.equal(pointsOf(readApiConfig({ file: shipped, env: {} })), 100);
  },
);

t.test("keys are sold with what everybody knows in development, and never so in production", async (t) => {
  const ofDevelopment = readApiConfig({ file: shipped, env: {} });
  t.match(ofDevelopment.svcDev, {
    packages: { monthly: 100n * 10n ** 18n, quarterly: 270n * 10n ** 18n, yearly: 900n * 10n ** 18n },
    orderSigner: { kind: "development" },
    sealingKeyFile: "",
  });
  const keys = await openMerchantKeys(ofDevelopment);
  t.equal(keys?.feeCollector, ofDevelopment.fees?.feeCollector);
  t.not(
    keys?.invoiceSigningKey?.privateKey,
    keys?.signingKey.privateKey,
    "invoices have a signer of their own",
  );
  const none = { ...ofDevelopment, invoices: { orderSigner: { kind: "none" } } } as const;
  t.equal((await openMerchantKeys(none))?.invoiceSigningKey, undefined);

  const production = {
    TOLLGATE_PROFILE: "production",
    API_ORIGINS: "https://explorer.example, https://www.example",
  };
  t.throws(() => readApiConfig({ file: shipped, env: production }), { message: /development account/ });
  const env = { ...production, ...productionFees };
  const nothing = readApiConfig({ file: shipped, env });
  t.equal(nothing.svcDev.orderSigner.kind, "none");
  t.equal(nothing.invoices.orderSigner.kind, "none");
  t.equal(await openMerchantKeys(nothing), undefined);
  const keystore = { ...env, API_ORDER_SIGNER_KEYSTORE: "/run/secrets/signer" };
  t.throws(() => readApiConfig({ file: shipped, env: keystore }), { message: /svcDev\.sealingKeyFile/ });

  const folder = testFolder(t, { known: developmentSealingKey.toString("hex"), own: "ab".repeat(32) });
  const sealedWith = (name: string) => ({ ...nothing.svcDev, sealingKeyFile: join(folder, name) });
  const open = (svcDev: typeof nothing.svcDev, profile: "development" | "production") =>
    openMerchantKeys({ ...nothing, svcDev, profile });
  const signer = { orderSigner: { kind: "development" } } as const;
  await t.rejects(open({ ...sealedWith("known"), ...signer }, "production"), { message: /everybody has it/ });
  await t.rejects(open({ ...sealedWith("own"), ...signer }, "production"), {
    message: /none of the signers of svc_dev/,
  });
});

t.test("a password of a file goes into the URL, whatever it is made of", async (t) => {
  const folder = testFolder(t, {
    "api.yaml": "postgres: { passwordFile: password }\n",
    password: "p@s/s:%41 \n",
  });
  const { postgres } = readApiConfig({ file: join(folder, "api.yaml"), env: {} });
  t.equal(decodeURIComponent(new URL(postgres.url).password), "p@s/s:%41");
  t.equal(new URL(postgres.url).host, "127.0.0.1:5432");
});

t.test("what cannot be used is named by file, line and key", async (t) => {
  const cases = {
    "sealSources: ftp://x": /api\.yaml:1: sealSources/,
    "origins: https://a.example/path": /api\.yaml:1: origins/,
    "names: { '0x12': a }": /api\.yaml:1: names/,
    "profile: production\norigins: https://a.example": /api\.yaml:2: origins: the two origins/,
    "postgres: { url: mysql://x }": /api\.yaml:1: postgres\.url/,
    'invoices: { rates: { idrPerToken: "0" } }': /api\.yaml:1: invoices\.rates\.idrPerToken: a decimal text/,
    "invoices: { rates: { idrPerToken: 15000 } }":
      /api\.yaml:1: invoices\.rates\.idrPerToken: a decimal text/,
    "invoices: { feeBasisPoints: 1001 }": /api\.yaml:1: invoices\.feeBasisPoints/,
    "prot: 1": /api\.yaml:1: prot: this key is unknown/,
  };
  for (const [text, message] of Object.entries(cases)) {
    const file = join(testFolder(t, { "api.yaml": text }), "api.yaml");
    t.throws(() => readApiConfig({ file, env: {} }), { message }, text);
  }
});
