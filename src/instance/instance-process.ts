import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { assertDefined } from '../base/assert.ts';
import { systemClock } from '../base/clock.ts';
import { entryFile } from '../base/entry.ts';
import { type LogFile, openLogger } from '../base/log-file.ts';
import type { ProcessContext } from '../base/process-main.ts';
import { BYTES_PER_MB } from '../base/units.ts';
import { loadTopologyModule } from '../package/load-module.ts';
import { READY } from '../supervision/start-process.ts';
import { Settings } from '../model/settings.ts';
import type { InstanceIdentity } from './instance-identity.ts';
import { Task } from './task/task.ts';
import type { GatewayStart, ToGateway, ToTask } from './thread-channel.ts';

/** The settings are not known yet when the log is opened; these are their defaults. */
const LOG_BYTES_MAX = 10 * BYTES_PER_MB;
const LOG_FILES_MAX = 5;

/** The process of one task: its main thread, with the user's code, and its gateway's thread. */
export class InstanceProcess {
  readonly #context: ProcessContext;
  readonly #gateway: Worker;
  readonly #task: Task;
  readonly #closed = Promise.withResolvers<void>();
  readonly #logger: LogFile;

  constructor(identity: InstanceIdentity, context: ProcessContext) {
    this.#context = context;
    this.#logger = openLogger({
      file: `${identity.logDirectory}/${identity.instance}.log`,
      level: 'info',
      name: identity.instance,
      clock: systemClock,
      maxBytes: LOG_BYTES_MAX,
      filesMax: LOG_FILES_MAX,
    });
    context.logTo(this.#logger);
    const start: GatewayStart = { identity, token: process.env['HERON_TOKEN'] ?? '' };
    this.#gateway = new Worker(entryFile('instance/gateway/main'), { workerData: start });
    this.#task = new Task({
      identity,
      clock: systemClock,
      logger: this.#logger,
      send: (message) => this.#send(message),
      load: async ({ name, config, module }) => {
        const { file, arguments: args } = assertDefined(module, 'our topologies have a module');
        return loadTopologyModule(join(process.cwd(), file), { name, args, config });
      },
      onFailed: (error) => context.fail(error),
      onDone: () => this.#handleDone(),
    });
  }

  start(): void {
    this.#gateway.on('message', (message: ToTask) => this.#handle(message));
    this.#gateway.on('error', (error) => this.#context.fail(error));
    this.#gateway.on('exit', () => this.#closed.resolve());
    this.#context.onShutdown(async (reason) => {
      // A task that failed has told the gateway so, which then closes by itself.
      if (reason !== 'failed') this.#send({ kind: 'stop' });
      await this.#closed.promise;
      await this.#gateway.terminate();
    });
  }

  #handle(message: ToTask): void {
    if (message.kind === 'definition') {
      const settings = new Settings(message.topology.config);
      this.#context.setGrace(settings.get('heron.shutdown.grace.ms'));
    }
    this.#task.handle(message);
  }

  #send(message: ToGateway): void {
    if (message.kind === 'started') this.#sayReady();
    this.#gateway.postMessage(message);
  }

  /** The executor puts it into its report; the channel has no other use. */
  #sayReady(): void {
    if (process.send === undefined) return;
    process.send(READY, () => {
      if (process.connected) process.disconnect();
    });
  }

  #handleDone(): void {
    this.#closed.resolve();
    this.#context.stop();
  }
}
