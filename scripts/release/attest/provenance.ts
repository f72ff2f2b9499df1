/**
 * How an image was made, as an in-toto statement with SLSA provenance (https://slsa.dev/spec/v1.0/provenance). Unsigned: whoever
 * signs it says that it is true.
 */
export function imageProvenance({
  image,
  digest,
  source,
  revision,
  version,
  bases,
  builder,
}: {
  /** Without tag or digest. */
  image: string;
  /** `sha256:` and 64 hexadecimal digits. */
  digest: string;
  /** Where the repository is. */
  source: string;
  /** The commit. */
  revision: string;
  version: string;
  /** References with digests. */
  bases: readonly string[];
  /** Who built it, as a URI. */
  builder: string;
}): unknown {
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: image, digest: { sha256: digest.slice("sha256:".length) } }],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "https://mobyproject.org/buildkit@v1",
        externalParameters: { source: `git+${source}@${revision}`, dockerfile: "docker/Dockerfile", version },
        resolvedDependencies: [
          { uri: `git+${source}@${revision}`, digest: { gitCommit: revision } },
          ...bases.map((base) => ({
            uri: `pkg:docker/${base.slice(0, base.indexOf("@"))}`,
            digest: { sha256: base.slice(base.indexOf("@sha256:") + "@sha256:".length) },
          })),
        ],
      },
      runDetails: { builder: { id: builder } },
    },
  };
}
