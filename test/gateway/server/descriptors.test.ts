import { connect } from "node:net";
import { pino } from "pino";
import t from "tap";
import { readGatewayConfig } from "../../../gateway/config.ts";
import { fitConnections, readDescriptorLimit } from "../../../gateway/server/descriptors.ts";
import { startStubValidator } from "../../fakes/stub-validator.ts";
import { coreKey } from "../../helpers/gateway.ts";
import { runGateway, whenServing, writeConfig } from "../../helpers/gateway-process.ts";
import { rawPost, rawRequest } from "../../helpers/raw-http.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";

t.test("with 400 descriptors 700 sockets neither spin nor close the ops port", async (t) => {
  const [redis, stub] = await Promise.all([startRedis(t), startStubValidator(t)]);
  const file = writeConfig(t, { redisUrl: redis.url, upstream: stub.url });
  const gateway = runGateway(t, ["--config", file], { descriptorsMax: 400 });
  const { port, opsPort } = await whenServing(gateway);
  t.match(gateway.output(), /fewer connections than configured/);

  let closed = 0;
  for (let index = 0; index < 700; index += 1) {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.on("close", () => {
      closed += 1;
    });
    t.teardown(() => socket.destroy());
    await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve));
  }
  const metric = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
    return Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.split(" ")[1],
    );
  };
  const open = await metric("tollgate_gateway_connections");
  t.ok(open > 100 && open < 300, `${open} connections are open`);
  await waitFor("the others are closed", () => closed >= 700 - open);

  const before = await metric("process_cpu_seconds_total");
  const startedMs = performance.now();
  // What it uses of a processor is measured over a second.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const used = (await metric("process_cpu_seconds_total")) - before;
  const share = used / ((performance.now() - startedMs) / 1000);
  t.ok(share < 0.4, `${Math.round(share * 100)} % of a processor`);
  const ready = await fetch(`http://127.0.0.1:${opsPort}/readyz`);
  t.equal(ready.status, 200);
  const call = '{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}';
  t.equal(
    (await rawRequest(port, rawPost({ key: coreKey, body: call }))).status,
    200,
    "a good key is served",
  );
});

t.test("connections are fitted to what the process may have open", async (t) => {
  const file = new URL("../../../config/gateway.yaml", import.meta.url).pathname;
  const config = readGatewayConfig({ file, env: {} });
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  t.equal(fitConnections({ config, descriptorsMax: 1_000_000, logger }).max, config.connections.max);
  t.equal(fitConnections({ config, descriptorsMax: Number.POSITIVE_INFINITY, logger }).max, 10_000);
  t.same(lines, []);
  const { max } = fitConnections({ config, descriptorsMax: 1024, logger });
  t.ok(max > 500 && max < 1000, `${max}`);
  t.match(lines.join(""), /"descriptorsMax":1024.*ulimit -n/);
  t.throws(() => fitConnections({ config, descriptorsMax: 64, logger }), /64 file descriptors.*ulimit -n/);
  t.ok(readDescriptorLimit() >= 64, "the process knows its own limit");
});
