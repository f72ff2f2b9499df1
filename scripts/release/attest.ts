import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { CommandError, textOf, type Values } from "../../lib/cli/command.ts";
import { imageProvenance } from "./attest/provenance.ts";
import { type Architecture, imageSbom } from "./attest/sbom.ts";
import type { ReleaseCommand } from "./command.ts";
import { readLock } from "./lock/lock-file.ts";

const run = promisify(execFile);
const pinned = /^[^@\s]+@sha256:[0-9a-f]{64}$/;

export const attestCommand: ReleaseCommand = {
  name: "attest",
  positionals: [],
  summary:
    "Writes what is in an image (SPDX 2.3) and how it was made (SLSA provenance v1), to be signed with it.",
  details: [
    "sbom.spdx.json and provenance.json. Asks for a clean work tree, since both name the commit. docs/releasing.md has the whole way.",
  ],
  options: {
    image: { value: "NAME@sha256:HEX", text: "the image that was built, by its digest", required: true },
    architecture: { value: "NAME", text: "amd64 or arm64", required: true },
    base: {
      value: "NAME@sha256:HEX",
      text: "an image that it was built from, by its digest; once each",
      multiple: true,
    },
    "dpkg-status": { value: "FILE", text: "the image's /var/lib/dpkg/status: its Debian is listed, too" },
    source: { value: "URL", text: "where the repository is", required: true },
    builder: { value: "URI", text: "who built it", required: true },
    out: { value: "DIR", text: "where the files are written", default: "." },
  },
  examples: [
    "attest --image registry.example/tollgate@sha256:… --architecture amd64 --base node@sha256:… --base debian@sha256:… \\\n    --dpkg-status status --source https://git.example/tollgate --builder https://ci.example/ --out dist",
  ],
  async run({ root, values, print }) {
    const image = need(values, "image");
    const bases = [values["base"] ?? []].flat().map(String);
    for (const reference of [image, ...bases]) {
      if (!pinned.test(reference)) {
        refuse(`"${reference}" has no digest: NAME@sha256: and 64 hexadecimal digits were expected.`);
      }
    }
    if (bases.length !== 2) refuse("Two --base were expected: those of NODE_IMAGE and of BASE_IMAGE.");
    const architecture = readArchitecture(need(values, "architecture"));
    const git = async (...args: string[]) => (await run("git", args, { cwd: root })).stdout.trim();
    if ((await git("status", "--porcelain")) !== "") {
      throw new CommandError("The work tree has changes, and an image of it is of no commit.", {
        exitCode: 1,
      });
    }
    const revision = await git("rev-parse", "HEAD");
    const created = new Date(Number(await git("log", "-1", "--format=%ct")) * 1000);
    const lock = readLock(join(root, "package-lock.json"));
    const args = ["sbom", "--sbom-format=spdx", "--omit=dev", "--package-lock-only"];
    const { stdout: npmSbom } = await run("npm", args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
    const statusFile = textOf(values, "dpkg-status");
    const dpkgStatus = statusFile === undefined ? undefined : readFileSync(resolve(statusFile), "utf8");
    const sbom = imageSbom({ npmSbom, lock: lock.packages, dpkgStatus, architecture, revision, created });
    const [name = "", digest = ""] = image.split("@");
    const [source, builder] = [need(values, "source"), need(values, "builder")];
    const { version } = lock;
    const provenance = imageProvenance({ image: name, digest, source, revision, version, bases, builder });
    const out = resolve(textOf(values, "out") ?? ".");
    mkdirSync(out, { recursive: true });
    for (const [file, content] of Object.entries({ "sbom.spdx.json": sbom, "provenance.json": provenance })) {
      writeFileSync(join(out, file), `${JSON.stringify(content, null, 2)}\n`);
      print(join(out, file));
    }
  },
};

function need(values: Values, name: string): string {
  return textOf(values, name) ?? refuse(`--${name} is missing.`);
}

function readArchitecture(text: string): Architecture {
  return text === "amd64" || text === "arm64"
    ? text
    : refuse(`--architecture ${text}: amd64 or arm64 was expected.`);
}

function refuse(text: string): never {
  throw new CommandError(text, { exitCode: 2 });
}
