import { performance } from "node:perf_hooks";
import type { Command, Redis } from "ioredis";

type Unanswered = {
  command: Command;
  dueMs: number;
  connection: Redis["stream"];
  bytesReadBefore: number;
  next: Unanswered | undefined;
};

/**
 * Replaces ioredis's `commandTimeout` and `socketTimeout`, which blame Redis for our own pauses: after a long
 * garbage collection their timers run before the socket is read, and answers that lie in the kernel's buffer count as
 * missing. Here a command that is due gets one more turn of the event loop, in which the socket is read.
 */
export function limitAnswerTime({
  redis,
  commandTimeoutMs,
}: {
  redis: Redis;
  commandTimeoutMs: number;
}): void {
  const send = redis.sendCommand.bind(redis);
  let first: Unanswered | undefined;
  let last: Unanswered | undefined;
  let armed = false;

  redis.sendCommand = (command, stream) => {
    const answer = send(command, stream);
    if (!command.isSettled) remember(command);
    return answer;
  };

  function remember(command: Command): void {
    forgetAnswered();
    const connection = redis.stream;
    const entry: Unanswered = {
      command,
      dueMs: performance.now() + commandTimeoutMs,
      connection,
      bytesReadBefore: connection?.bytesRead ?? 0,
      next: undefined,
    };
    if (first === undefined || last === undefined) first = entry;
    else last.next = entry;
    last = entry;
    if (!armed) arm(commandTimeoutMs);
  }

  // Redis answers in order, so what is settled stands in front.
  function forgetAnswered(): void {
    while (first?.command.isSettled) first = first.next;
  }

  function arm(delayMs: number): void {
    armed = true;
    setTimeout(() => setImmediate(failLate), delayMs).unref();
  }

  function failLate(): void {
    armed = false;
    const nowMs = performance.now();
    for (forgetAnswered(); first !== undefined && first.dueMs <= nowMs; forgetAnswered()) {
      const { command, connection, bytesReadBefore } = first;
      const error = new RedisSilentError(commandTimeoutMs);
      command.reject(error);
      // A slow server still sends something and keeps its connection: late answers are matched by their order.
      if (connection?.bytesRead === bytesReadBefore) connection.destroy(error);
    }
    if (first !== undefined) arm(first.dueMs - nowMs);
  }
}

/** A command was sent and not answered in time. It may have been carried out. */
export class RedisSilentError extends Error {
  override readonly name = "RedisSilentError";

  constructor(commandTimeoutMs: number) {
    super(`Redis did not answer within ${commandTimeoutMs} ms`);
  }
}
