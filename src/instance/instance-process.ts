import { join } from 'node:path';
import { assertDefined } from '../base/assert.ts';
import type { ProcessContext } from '../base/process-main.ts';
import { BYTES_PER_MB } from '../base/units.ts';
import { Settings } from '../model/settings.ts';
import type { GatewayThread, InstanceEnvironment } from './instance-environment.ts';
import type { InstanceIdentity } from './instance-identity.ts';
import { Task } from './task/task.ts';
import type { ToGateway, ToTask } from './thread-channel.ts';

/** The settings are not known yet when the log is opened; these are their defaults. */
const LOG_BYTES_MAX = 10 * BYTES_PER_MB;
const LOG_FILES_MAX = 5;

/** The process of one task: its main thread, with the user's code, and its gateway's thread. */
export class InstanceProcess {
  readonly identity: InstanceIdentity;
  readonly task: Task;
  readonly #context: ProcessContext;
  readonly #environment: InstanceEnvironment;
  readonly #closed = Promise.withResolvers<void>();
  #gateway: GatewayThread | undefined;

  constructor(
    identity: InstanceIdentity,
    context: ProcessContext,
    environment: InstanceEnvironment,
  ) {
    const { clock, random, files, doorbells, workingDirectory, runtimeUse } = environment;
    this.identity = identity;
    this.#context = context;
    this.#environment = environment;
    const logger = environment.openLog({
      file: `${identity.logDirectory}/${identity.instance}.log`,
      level: 'info',
      name: identity.instance,
      maxBytes: LOG_BYTES_MAX,
      filesMax: LOG_FILES_MAX,
    });
    context.logTo(logger);
    this.task = new Task({
      identity,
      clock,
      random,
      files,
      logger,
      setLogLevel: (level) => logger.setLevel(level),
      doorbells,
      runtimeUse,
      roomWait: (ports) => environment.roomWait(ports),
      send: (message) => this.#send(message),
      workingDirectory,
      load: async ({ name, config, module }) => {
        const { file, arguments: args } = assertDefined(module, 'our topologies have a module');
        return environment.loadTopology(join(workingDirectory, file), { name, args, config });
      },
      onFailed: (error) => context.fail(error),
      onDone: () => this.#handleDone(),
    });
  }

  start(): void {
    const token = this.#environment.variables['HERON_TOKEN'] ?? '';
    const gateway = this.#environment.startGateway(
      { identity: this.identity, token, process: this.#environment.process },
      {
        onMessage: (message) => this.#handle(message),
        onError: (error) => this.#context.fail(error),
        onExit: () => this.#closed.resolve(),
      },
    );
    this.#gateway = gateway;
    this.#context.onShutdown(async (reason) => {
      // A task that failed has told the gateway so, which then closes by itself.
      if (reason !== 'failed') this.#send({ kind: 'stop' });
      await this.#closed.promise;
      await gateway.terminate();
    });
  }

  #handle(message: ToTask): void {
    if (message.kind === 'definition') {
      const settings = new Settings(message.topology.config);
      this.#context.setGrace(settings.get('heron.shutdown.grace.ms'));
    }
    this.task.handle(message);
  }

  #send(message: ToGateway): void {
    if (message.kind === 'started') this.#environment.sayReady();
    this.#gateway?.post(message);
  }

  #handleDone(): void {
    this.#closed.resolve();
    this.#context.stop();
  }
}
