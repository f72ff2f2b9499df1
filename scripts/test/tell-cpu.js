// Preloaded into a test file: leaves in the file TOLLGATE_CPU_FILE what it took of the processor, in seconds, with the
// programs that it started and that have ended. Those have no use for the variable.
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";

const file = process.env.TOLLGATE_CPU_FILE;
delete process.env.TOLLGATE_CPU_FILE;
/** USER_HZ of proc(5), 100 on every platform of Node.js. */
const ticksASecond = 100;

if (file !== undefined) {
  process.on("exit", () => {
    const { user, system } = process.cpuUsage();
    try {
      writeFileSync(file, String((user + system) / 1e6 + childrenSeconds()));
    } catch {
      // Nobody fails for a figure.
    }
  });
}

/** cutime and cstime of proc(5), behind the name in brackets; none where there is no /proc. */
function childrenSeconds() {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1).split(" ");
    return (Number(fields[13]) + Number(fields[14])) / ticksASecond;
  } catch {
    return 0;
  }
}
