import type { AnySpout, GivenUpMessage } from '../../api/component-runtime.ts';
import type { ValueSerializer } from '../../api/serializer.ts';
import type { Clock } from '../../base/clock.ts';
import { environmentError, messageOf, userError } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import { type Random, randomHex } from '../../base/random.ts';
import type { MetricsRegistry } from '../../metrics/metrics-registry.ts';
import {
  DEAD_LETTER_FOLDER,
  type DeadLetter,
  type DeadLetterAnswer,
  type DeadLetterRequest,
  deadLetterFileName,
} from '../../model/dead-letter.ts';
import type { Settings } from '../../model/settings.ts';
import type { InstanceIdentity } from '../instance-identity.ts';
import type { CollectedStream } from './component-collector.ts';
import type { DueEvents } from './due-events.ts';
import { LetterFile } from './letter-file.ts';
import { letterOf } from './letter-of.ts';
import { LetterReplays } from './letter-replays.ts';
import { LetterRequests } from './letter-requests.ts';

export interface DeadLettersOptions {
  readonly identity: Pick<InstanceIdentity, 'topologyName' | 'component' | 'task'>;
  readonly settings: Settings;
  readonly files: Files;
  readonly workingDirectory: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: MetricsRegistry;
  /** By stream index. */
  readonly streams: readonly CollectedStream[];
  readonly serializer: ValueSerializer | undefined;
  readonly due: DueEvents;
  readonly onError: (error: unknown) => void;
}

const ID_BYTES = 8;

/**
 * The dead letters of one task: takes them, keeps them in a file, and does what commands ask about
 * them. A task that never gives anything up touches no file.
 *
 * D1. Each letter is counted by its reason and reported as an error of the component, of which the
 *     log takes so many in a second.
 * D2. While a letter cannot be written, whoever gave it waits; nothing is passed over.
 */
export class DeadLetters {
  readonly #options: DeadLettersOptions;
  readonly #file: LetterFile | undefined;
  readonly #requests: LetterRequests;
  #spout: Pick<AnySpout, 'replay'> | undefined;
  #replays: LetterReplays | undefined;
  #hasEnded = false;

  constructor(options: DeadLettersOptions) {
    const { identity, settings, files, workingDirectory, clock, random, onError } = options;
    const { component, task } = identity;
    const folder = `${workingDirectory}/${DEAD_LETTER_FOLDER}`;
    this.#options = options;
    const keeps = settings.get('topology.dead.letters') === 'file';
    const file = new LetterFile({
      files,
      folder,
      name: deadLetterFileName(component, task),
      bytesMax: settings.get('topology.dead.letters.file.bytes'),
      clock,
      random,
      onFailure: (cause) => onError(notWritten(cause)),
      onDropped: (letters) => this.#noteDropped(letters),
    });
    this.#file = keeps ? file : undefined;
    this.#requests = new LetterRequests({
      files,
      folder,
      component,
      task,
      clock,
      handle: (request) => this.#handle(request),
      onFailure: (cause) => onError(notWritten(cause)),
    });
  }

  /** The component is open; letters of earlier processes of the task may be asked about. */
  async start(spout: Pick<AnySpout, 'replay'>): Promise<void> {
    const { due, serializer, onError } = this.#options;
    this.#spout = spout;
    this.#replays = new LetterReplays({
      spout,
      due,
      deserialize: serializer && ((bytes) => serializer.deserialize(bytes)),
      remove: async (id) => this.#file?.remove([id]),
      onError,
    });
    try {
      if (await this.#file?.exists()) this.#requests.start();
    } catch (error) {
      onError(notWritten(error));
      this.#requests.start();
    }
  }

  /** See `Collector.deadLetter`. */
  async give(message: GivenUpMessage): Promise<void> {
    const { registry, streams } = this.#options;
    registry.counter(`__dead-letter-count/${message.reason.kind}`).value += 1;
    this.#report(message);
    if (message.isEmitted || this.#file === undefined) return;
    const stream = message.streamIndex === undefined ? undefined : streams[message.streamIndex];
    const letter = letterOf(message, stream, this.#newOrigin(), this.#file.letterBytesMax);
    const written = this.#file.add(letter);
    this.#requests.start();
    await written;
  }

  /** The task has said that it has ended: nothing can be emitted again. */
  end(): void {
    this.#hasEnded = true;
  }

  async close(): Promise<void> {
    await this.#requests.close();
    await this.#file?.close();
  }

  #newOrigin(): Pick<DeadLetter, 'id' | 'atMs' | 'topology' | 'component' | 'task'> {
    const { identity, clock, random } = this.#options;
    const { topologyName: topology, component, task } = identity;
    const id = `${task}-${randomHex(random, ID_BYTES)}`;
    return { id, atMs: clock.wallNow(), topology, component, task };
  }

  #report({ position, messageId, attempts, reason, streamIndex }: GivenUpMessage): void {
    const what = streamIndex === undefined ? 'a record' : 'a message';
    const at = position ?? messageId;
    const where = at === undefined ? '' : ` (${at.slice(0, 200)})`;
    const times =
      attempts === 0 ? '' : ` after ${attempts === 1 ? 'one try' : `${attempts} tries`}`;
    const why = reason.message === undefined ? '' : `: ${reason.message}`;
    const text = `${what}${where} was given up${times}: ${reason.kind}${why}`;
    const error = userError('COMPONENT_FAILED', text);
    if (reason.stack !== undefined) error.stack = reason.stack;
    this.#options.onError(error);
  }

  #noteDropped(letters: number): void {
    this.#options.registry.counter('__dead-letter-dropped-count').value += letters;
    const text =
      `${letters} dead letters have made room for newer ones: ` +
      'see topology.dead.letters.file.bytes';
    this.#options.onError(environmentError('QUEUE_FULL', text));
  }

  async #handle({ action, letters: meant }: DeadLetterRequest): Promise<DeadLetterAnswer> {
    const file = this.#file;
    if (file === undefined) return refused('the setting topology.dead.letters is none');
    const ids = new Set(meant === 'all' ? [] : meant);
    const isMeant = ({ id }: DeadLetter): boolean => meant === 'all' || ids.has(id);
    if (action === 'purge') return { count: await file.purge(isMeant), refusal: undefined };
    if (this.#hasEnded) return refused('the input of the task has ended');
    if (this.#spout?.replay === undefined) {
      return refused(`the spout '${this.#options.identity.component}' has no method replay`);
    }
    const { letters } = await file.read();
    return { count: this.#replays?.begin(letters.filter(isMeant)) ?? 0, refusal: undefined };
  }
}

function refused(refusal: string): DeadLetterAnswer {
  return { count: 0, refusal };
}

function notWritten(cause: unknown): Error {
  const text = `the folder of dead letters cannot be used, trying again: ${messageOf(cause)}`;
  return environmentError('FILE_FAILED', text, { retryable: true, cause });
}
