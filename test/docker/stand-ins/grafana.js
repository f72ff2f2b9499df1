// Writes where Grafana would have its database, then answers anything with 200.
require("node:fs").writeFileSync("/var/lib/grafana/grafana.db", "");
require("node:http")
  .createServer((_request, response) => response.end("ok"))
  .listen(3000);
