/** The one file that imports uWebSockets.js (an alias in package.json, since it is not in the npm registry). */
export {
  App,
  type HttpRequest,
  type HttpResponse,
  SSLApp,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  type us_socket_context_t,
  us_socket_local_port,
  type WebSocket,
  type WebSocketBehavior,
} from "uWebSockets.js";

import { _cfg, type us_listen_socket } from "uWebSockets.js";

declare module "uWebSockets.js" {
  /** "silent" leaves the header `uWebSockets: 20` out of every answer; the typings leave this out. */
  export function _cfg(option: "silent"): void;
  /** Messages in parts (RFC 6455 section 5.4), which the typings leave out. They answer as `send` does. */
  interface WebSocket<UserData> {
    sendFirstFragment(part: Uint8Array, isBinary?: boolean): number;
    sendFragment(part: Uint8Array): number;
    sendLastFragment(part: Uint8Array): number;
    getUserData(): UserData;
  }
  interface TemplatedApp {
    /** The library has this form; its typings leave it out. */
    listen(
      host: string,
      port: number,
      options: number,
      listening: (socket: us_listen_socket | false) => void,
    ): TemplatedApp;
    /** Hands accepted connections to other apps in turn instead of serving them; the typings leave these out too. */
    addChildAppDescriptor(descriptor: AppDescriptor): void;
    removeChildAppDescriptor(descriptor: AppDescriptor): void;
    getDescriptor(): AppDescriptor;
  }
}

_cfg("silent");

type AppDescriptor = { readonly __brand: "uWebSockets.js app" };

/** The library's LIBUS_LISTEN_EXCLUSIVE_PORT. */
export const exclusivePort = 1;
/** Its LIBUS_LISTEN_DEFAULT: SO_REUSEPORT. */
export const sharedPort = 0;
