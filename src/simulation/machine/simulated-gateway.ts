import type { GatewayEnvironment } from '../../instance/gateway/gateway-environment.ts';
import { gatewayMain } from '../../instance/gateway/gateway-main.ts';
import type { GatewayThread, GatewayThreadEvents } from '../../instance/instance-environment.ts';
import type { GatewayStart, ToGateway, ToTask } from '../../instance/thread-channel.ts';
import type { SimulatedThread } from '../kernel/simulated-thread.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/*
  The gateway of a simulated instance: a second thread of its process. Messages between the two are
  copied, as they are between real threads, and arrive in events of the other one, in order.
*/

/** Until a new thread runs, and until a message is there. */
const START_MS = 5;
const MESSAGE_MS = 0.02;

export function startSimulatedGateway(
  process: SimulatedProcess,
  environmentOf: (thread: SimulatedThread) => GatewayEnvironment,
  { start, events }: { readonly start: GatewayStart; readonly events: GatewayThreadEvents },
): GatewayThread {
  const { mainThread } = process;
  const thread = process.startThread(`${process.name}/gateway`, (error) => {
    end(() => events.onError(error));
  });
  const gone = Promise.withResolvers<void>();
  let isGone = false;
  const end = (tell: () => void): void => {
    if (isGone) return;
    isGone = true;
    thread.kill();
    mainThread.post(MESSAGE_MS, () => {
      tell();
      events.onExit();
      gone.resolve();
    });
  };
  const toTask = new MessageQueue<ToTask>(mainThread);
  const toGateway = new MessageQueue<ToGateway>(thread);
  toTask.listen((message) => events.onMessage(message));
  thread.post(START_MS, () => {
    process.gateway = gatewayMain(
      {
        start,
        send: (message) => toTask.post(message),
        onMessage: (handle) => toGateway.listen(handle),
      },
      environmentOf(thread),
    );
  });
  return {
    post: (message) => toGateway.post(message),
    terminate: () => {
      end(() => {});
      return gone.promise;
    },
  };
}

/** One way between two threads; keeps the order, whatever the two of them are doing. */
class MessageQueue<Message extends ToTask | ToGateway> {
  readonly #receiver: SimulatedThread;
  readonly #waiting: Message[] = [];
  #handle: ((message: Message) => void) | undefined;

  constructor(receiver: SimulatedThread) {
    this.#receiver = receiver;
  }

  post(message: Message): void {
    this.#waiting.push(structuredClone(message));
    if (this.#handle !== undefined) this.#deliverLater();
  }

  /** Called once. */
  listen(handle: (message: Message) => void): void {
    this.#handle = handle;
    for (const _ of this.#waiting) this.#deliverLater();
  }

  #deliverLater(): void {
    this.#receiver.post(MESSAGE_MS, () => {
      const message = this.#waiting.shift();
      if (message !== undefined) this.#handle?.(message);
    });
  }
}
