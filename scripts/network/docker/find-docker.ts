import { runDocker } from "./run-docker.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Why containers cannot be run here, and what to do about it; undefined where they can. */
export async function dockerProblem(
  env: Environment,
  /** Whether validators are to be asked from this machine. */
  { asks = true }: { asks?: boolean } = {},
): Promise<string | undefined> {
  const [client, compose, server] = await Promise.all([
    runDocker({ args: ["--version"], env }),
    runDocker({ args: ["compose", "version"], env }),
    runDocker({ args: ["info", "--format", "{{.OperatingSystem}}"], env }),
  ]);
  if (!client.ok) {
    return (
      "There is no docker here. Install Docker Engine 20.10 or newer with compose v2 " +
      "(https://docs.docker.com/engine/install/), or run the validators as processes: --native."
    );
  }
  if (!compose.ok) {
    return (
      "docker is here, but not its plugin compose v2 (docker-compose, v1, cannot read our file). Install the package " +
      "docker-compose-plugin, or docker-compose-v2 on Ubuntu: https://docs.docker.com/compose/install/linux/"
    );
  }
  if (!server.ok) {
    return `docker is here, but its daemon does not answer; is it running (systemctl start docker), and may you use it?\n${server.why}`;
  }
  if (asks && server.out[0] === "Docker Desktop") {
    return (
      "Docker Desktop keeps the containers' network to itself, so the validators cannot be asked from here. Bring the " +
      "network up with docker compose itself (docker/RUNBOOK.md), or run the validators as processes: --native."
    );
  }
  return undefined;
}
