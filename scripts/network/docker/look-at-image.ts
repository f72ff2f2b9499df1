import type { DockerOutcome } from "./run-docker.ts";

type Docker = (args: readonly string[]) => Promise<DockerOutcome>;

/**
 * The version that an image's program says it is, in a container that reaches nothing.
 * @returns the version, or why there is none: the image is unknown, or its program says nothing.
 */
export async function lookAtImage({
  image,
  fetch,
  docker,
  run,
  read,
}: {
  image: string;
  /** Pulls it where this machine has not got it. */
  fetch: boolean;
  docker: Docker;
  /** What goes before and behind the image on `docker run`. */
  run: { options: readonly string[]; words: readonly string[] };
  read: (text: string) => string | undefined;
}): Promise<{ to: string; version: string } | { failed: string }> {
  if (!(await docker(["image", "inspect", "--format", "{{.Id}}", image])).ok) {
    if (!fetch)
      return {
        failed: `${image} is not on this machine, so it cannot be said what it is: docker pull ${image}`,
      };
    const pulled = await docker(["pull", "--quiet", image]);
    if (!pulled.ok) return { failed: `There is no image ${image}: ${pulled.why}` };
  }
  const said = await docker(["run", "--rm", "--network", "none", ...run.options, image, ...run.words]);
  const version = read([...said.out, ...said.err].join("\n"));
  if (version !== undefined) return { to: image, version };
  const last = said.ok ? (said.out.at(-1) ?? "nothing") : said.why;
  return { failed: `${image} does not say which version it is: ${last}` };
}
