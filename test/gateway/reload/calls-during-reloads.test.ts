import t from "tap";
import { testFolder } from "../../helpers/test-folder.ts";
import { openWebSocket } from "../../helpers/web-socket-client.ts";
import { methodsWithout, startReloadable } from "./reload-rig.ts";

const swaps = 20;
const batch = ["net_version", "net_peerCount"].map((method, index) => ({
  jsonrpc: "2.0",
  id: index,
  method,
}));

/** Which table a batch met: each lacks one of the two methods. */
function tableOf(answers: unknown): "first" | "second" | undefined {
  if (!Array.isArray(answers) || answers.length !== batch.length) return undefined;
  const [version, peers] = answers.map((answer) => ("result" in answer ? "answered" : answer.error?.code));
  if (version === "answered" && peers === -32601) return "first";
  if (version === -32601 && peers === "answered") return "second";
  return undefined;
}

t.test("thousands of calls during twenty swaps: none is lost, each meets one configuration", async (t) => {
  const folder = testFolder(t);
  const files = [methodsWithout(folder, ["net_peerCount"]), methodsWithout(folder, ["net_version"])];
  const { gateway, write, reload } = await startReloadable(t, {
    change: (config) => ({ ...config, methodsFile: files[0] ?? "" }),
  });
  const met = { first: 0, second: 0 };
  const strange: unknown[] = [];
  const note = (answers: unknown) => {
    const table = tableOf(answers);
    if (table === undefined) strange.push(answers);
    else met[table] += 1;
  };
  let isOver = false;

  async function overHttp(): Promise<void> {
    while (!isOver) note((await gateway.post(batch)).json);
  }
  async function overWebSocket(): Promise<void> {
    const { socket } = await openWebSocket(t, gateway.url);
    while (!isOver) {
      const answer = new Promise<string>((resolve) => {
        socket.once("message", (data) => resolve(String(data)));
      });
      socket.send(JSON.stringify(batch));
      note(JSON.parse(await answer));
    }
    socket.close();
  }

  const clients = [...Array(16).keys()].map((index) => (index % 2 === 0 ? overHttp() : overWebSocket()));
  for (let swap = 1; swap <= swaps; swap += 1) {
    const enough = met.first + met.second + 50;
    while (met.first + met.second < enough && strange.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    write({ methodsFile: files[swap % 2] ?? "" });
    t.equal((await reload()).body.outcome, "changed");
  }
  isOver = true;
  await Promise.all(clients);
  t.same(strange, [], "each batch was answered by one of both tables");
  t.comment(`batches: ${met.first} met the first table, ${met.second} the second`);
  t.ok(met.first > 400 && met.second > 400, "both were met often");
});
