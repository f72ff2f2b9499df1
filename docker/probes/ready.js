import { argv, stdout } from "node:process";

/** The health of one of our processes: its ops server, on the port given, says that it serves. */
const response = await fetch(`http://127.0.0.1:${argv[2]}/readyz`, { signal: AbortSignal.timeout(3000) });
stdout.write(await response.text());
if (!response.ok) throw new Error(`it answers ${response.status}`);
