import { once } from "node:events";
import { connect, createServer } from "node:net";
import { findPortHolders, type PortHolder } from "./port-holder.ts";

export type NeededPort = {
  host: string;
  port: number;
  /** Who needs it, in words: "the gateway". */
  owner: string;
  /** How to choose another: "`port` in config/gateway.yaml". */
  changeWith: string;
};

const connectTimeoutMs = 1000;
const commandCharsMax = 200;

/** One text for each taken port: who holds it and what to do. Empty where all are free. */
export async function checkPorts(ports: readonly NeededPort[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [index, needed] of ports.entries()) {
    const other = ports.slice(0, index).find(({ port }) => port === needed.port);
    if (other !== undefined) {
      problems.push(
        `port ${needed.port} is wanted by ${other.owner} and by ${needed.owner}: set ${needed.changeWith}`,
      );
      continue;
    }
    const cause = await whyUnusable(needed);
    if (cause !== undefined) problems.push(await describe({ needed, cause }));
  }
  return problems;
}

async function describe({ needed, cause }: { needed: NeededPort; cause: string }): Promise<string> {
  const { port, host, owner, changeWith } = needed;
  if (cause !== "EADDRINUSE")
    return `${host}:${port} (${owner}) cannot be listened on: ${cause}; set ${changeWith}`;
  const holders = await findPortHolders(port);
  if (holders.length === 0) {
    return (
      `port ${port} (${owner}) is taken by a process of another user (sudo lsof -iTCP:${port} names it): ` +
      `stop it, or set ${changeWith}`
    );
  }
  const pids = holders.map(({ pid }) => pid).join(" ");
  return (
    `port ${port} (${owner}) is taken by ${holders.map(holderText).join(" and ")}: ` +
    `stop it (kill ${pids}), or set ${changeWith}`
  );
}

function holderText({ pid, command }: PortHolder): string {
  const shown = command.length > commandCharsMax ? `${command.slice(0, commandCharsMax)}…` : command;
  return `process ${pid} (${shown})`;
}

/**
 * The error code, or undefined where the port is free. Listening alone is not enough on macOS, where SO_REUSEADDR (Node
 * sets it) allows 127.0.0.1 beside a server on all addresses; so it also tries to connect.
 */
async function whyUnusable({ host, port }: NeededPort): Promise<string | undefined> {
  const server = createServer();
  server.listen({ port, host, exclusive: true });
  try {
    await once(server, "listening");
  } catch (error) {
    return codeOf(error);
  }
  server.close();
  await once(server, "close");
  return (await answers(port)) ? "EADDRINUSE" : undefined;
}

async function answers(port: number): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port, timeout: connectTimeoutMs });
  try {
    return await new Promise((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("timeout", () => resolve(false));
      socket.once("error", () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
