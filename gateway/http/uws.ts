/** The one file that imports uWebSockets.js (an alias in package.json, since it is not in the npm registry). */
export {
  App,
  type HttpRequest,
  type HttpResponse,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from "uWebSockets.js";

import type { us_listen_socket } from "uWebSockets.js";

declare module "uWebSockets.js" {
  interface TemplatedApp {
    /** The library has this form; its typings leave it out. */
    listen(
      host: string,
      port: number,
      options: number,
      listening: (socket: us_listen_socket | false) => void,
    ): TemplatedApp;
  }
}
/** The library's LIBUS_LISTEN_EXCLUSIVE_PORT. */
export const exclusivePort = 1;
