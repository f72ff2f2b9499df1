import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, exit } from "node:process";
import { type Dockerd, startDockerd } from "./dockerd.ts";
import { type KeeperAnswer, keeperAddress } from "./use-daemon.ts";

/**
 * `node keeper.ts DATA_ROOT`: runs the one docker daemon of a data root for all tests that need it at the same time.
 * Each holds a connection to the keeper meanwhile, so that one that is killed lets go too. The daemon ends with the last of
 * them, whose connection is closed when that is done.
 */
const [, , dataRoot = ""] = argv;
const firstUserWithinMs = 20_000;

const users = new Set<Socket>();
let answer: KeeperAnswer | undefined;
let daemon: Dockerd | undefined;
let folder: string | undefined;
let ending = false;

const server = createServer({ allowHalfOpen: true }, (socket) => {
  socket.on("error", () => {});
  if (ending) socket.destroy();
  else {
    users.add(socket);
    // "end" comes only where somebody reads.
    socket.resume();
    socket.once("end", () => leave(socket));
    if (answer !== undefined) tell(socket, answer);
  }
});
// One process alone listens on an address; another keeper was faster.
server.once("error", () => exit(0));
server.listen(keeperAddress(dataRoot), () => void begin());

async function begin(): Promise<void> {
  const late = setTimeout(() => users.size === 0 && void end(), firstUserWithinMs);
  folder = await mkdtemp(join(tmpdir(), "tollgate-docker-"));
  const started = await startDockerd({ folder, dataRoot });
  clearTimeout(late);
  if ("failed" in started) answer = started;
  else {
    daemon = started;
    answer = { host: started.host };
    void started.ended.then(end);
  }
  for (const user of users) tell(user, answer);
  if (users.size === 0) await end();
}

function tell(user: Socket, what: KeeperAnswer): void {
  user.write(`${JSON.stringify(what)}\n`);
}

function leave(user: Socket): void {
  if (users.size === 1 && answer !== undefined) void end();
  else {
    users.delete(user);
    user.end();
  }
}

async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  await daemon?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  exit(0);
}
