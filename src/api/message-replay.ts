import type { Clock, Timer } from '../base/clock.ts';
import { hasCode, messageOf, stackOf, userError } from '../base/errors.ts';
import type { DeadLetterReason } from '../model/dead-letter.ts';
import type { FailReason } from '../model/fail-reason.ts';
import { CommitLine } from './commit-line.ts';
import type { Committer } from './committer.ts';
import { Inquiry, type Reply } from './inquiry.ts';
import type { LetterToReplay } from './letter-to-replay.ts';
import type {
  ReplayableSource,
  SourceAnswer,
  SourceMessage,
  UnreadableRecord,
} from './replayable-source.ts';
import { ReplayedMessage } from './replayed-message.ts';
import type { RetryPolicy } from './retry-policy.ts';
import { RetryQueue } from './retry-queue.ts';
import type { StreamDeclarations } from './streams.ts';

export type AnySource = ReplayableSource<StreamDeclarations, unknown>;
type Answer = SourceAnswer<StreamDeclarations, unknown>;
type Read = SourceMessage<StreamDeclarations, unknown> | UnreadableRecord<unknown>;

/** What the bookkeeping of a replayable spout needs of its surroundings. */
export interface ReplayPorts {
  readonly source: AnySource;
  readonly clock: Clock;
  readonly policy: RetryPolicy;
  readonly committer: Pick<Committer<unknown>, 'request' | 'flush' | 'isClean'>;
  readonly unsettledMax: number;
  /** Has `step` called without further delay. */
  wake(): void;
  /** Emits with the message as the message id. */
  emit(stream: string | undefined, values: unknown, message: ReplayedMessage): void;
  /** Emits the dead letter of the message, which is its message id; absent without a stream. */
  readonly emitLetter?: ((message: ReplayedMessage) => void) | undefined;
  /** Resolves when the letter would survive a crash; never rejects. */
  deadLetter(message: ReplayedMessage): Promise<void>;
  /** Who is to blame for a record that cannot be made a tuple. */
  unreadable(error: unknown): DeadLetterReason;
  isRetryable(reason: FailReason, message: ReplayedMessage): boolean;
  reportError(error: unknown): void;
  onRetry(): void;
  onLostAtSource(): void;
}

/**
 * So many losses of a message are not counted as retries. A process that dies takes all messages
 * with it that were on their way there, and those behind a poisonous one would be given up with it.
 * There is a limit because a message may be what kills its process, without a word.
 */
const LOSSES_MAX = 20;

/** What `step` has to say. */
export type ReplayStep = 'busy' | 'idle' | 'ended';

/**
 * The bookkeeping of a replayable spout.
 *
 *            ┌──────────────── acked ───────────────┐
 *     read ──► emitted ──failed──► waits for retry  │
 *              ▲   │                │               │
 *              └───│────────────────┘               ▼
 *                  └─failed once too often──► dead letter ──kept──► settled
 *
 * R1. Each message is in one of these states; `settled` is the last one, and is entered once.
 * R2. A position is committed when it and all those before it are settled, and not before the
 *     letter of one that was given up would survive a crash.
 * R3. What is kept is bounded: nothing new is read while `unsettledMax` messages lie between the
 *     first that is not settled and the last. Retries and letters go on meanwhile.
 * R4. One question to the source at a time for new messages, and one for those that are read again;
 *     no call of the spout waits for either.
 */
export class MessageReplay {
  readonly #ports: ReplayPorts;
  readonly #line = new CommitLine<unknown>();
  readonly #waiting = new RetryQueue<ReplayedMessage>();
  /** Letters that are to be emitted again. */
  readonly #letters: ReplayedMessage[] = [];
  readonly #next: Inquiry<Answer>;
  readonly #reread: Inquiry<Read | undefined>;
  /** The message that `#reread` has asked for. */
  #rereadFor: ReplayedMessage | undefined;
  #unsettled = 0;
  #hasSourceEnded = false;
  #isFlushed = false;
  #timer: Timer | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor(ports: ReplayPorts) {
    this.#ports = ports;
    this.#next = new Inquiry(() => ports.wake());
    this.#reread = new Inquiry(() => ports.wake());
  }

  /** Messages that are not settled. */
  get unsettled(): number {
    return this.#unsettled;
  }

  /** Positions that are kept (R3). */
  get kept(): number {
    return this.#line.length;
  }

  /**
   * Emits what is due, or asks for something new unless `takesNew` is false. `ended`: the source
   * has, and everything is settled and committed. A promise resolves when an answer that needs no
   * time is there.
   */
  step(takesNew: boolean): ReplayStep | Promise<ReplayStep> {
    if (this.#stepWaiting() || this.#stepLetter()) return 'busy';
    if (this.#hasSourceEnded) return this.#stepEnd();
    if (takesNew && this.#line.length < this.#ports.unsettledMax) {
      this.#next.put(() => this.#ports.source.next());
      const reply = this.#next.take();
      return reply === undefined ? this.#stepSoon() : this.#handleNext(reply);
    }
    return this.#idle();
  }

  acked(message: ReplayedMessage): void {
    this.#settle(message);
  }

  failed(message: ReplayedMessage, reason: FailReason): void {
    if (message.isSettled) return;
    const { policy, clock } = this.#ports;
    if (message.letterAttempts > 0) {
      // It is the letter that has failed. In the end it is kept like any other (row O38).
      if (policy.isExhausted(message.letterAttempts)) this.#keepLetter(message);
      else this.#waiting.add(message, clock.now() + policy.delayMs(message.letterAttempts));
      return;
    }
    message.reason = toDeadLetterReason(reason);
    if (isLoss(reason) && message.losses < LOSSES_MAX) message.losses += 1;
    const comesAgain =
      !policy.isExhausted(message.attempts - message.losses) &&
      this.#ports.isRetryable(reason, message);
    if (comesAgain) this.#waiting.add(message, clock.now() + policy.delayMs(message.attempts));
    else this.#giveUp(message);
  }

  replay(letter: LetterToReplay): void {
    const message = new ReplayedMessage(
      parsed(letter.position),
      letter.stream,
      letter.values,
      letter,
    );
    if (!this.#hasValues(message) && this.#ports.source.reread === undefined) {
      letter.keep();
      return;
    }
    this.#unsettled += 1;
    this.#letters.push(message);
    this.#ports.wake();
  }

  close(): void {
    this.#timer?.cancel();
  }

  /** True when it has done something. */
  #stepWaiting(): boolean {
    if (this.#rereadFor !== undefined) return this.#takeReread();
    if (this.#waiting.length === 0) return false;
    const message = this.#waiting.take(this.#ports.clock.now());
    if (message === undefined) return false;
    return this.#goOnWith(message);
  }

  #stepLetter(): boolean {
    if (this.#letters.length === 0 || this.#rereadFor !== undefined) return false;
    return this.#goOnWith(this.#letters.shift() as ReplayedMessage);
  }

  #goOnWith(message: ReplayedMessage): boolean {
    if (this.#hasValues(message)) {
      this.#emitAgain(message, message.stream, message.values);
      return true;
    }
    this.#rereadFor = message;
    const { source } = this.#ports;
    this.#reread.put(() => source.reread?.(message.position));
    return this.#takeReread();
  }

  #takeReread(): boolean {
    const message = this.#rereadFor as ReplayedMessage;
    const reply = this.#reread.take();
    if (reply === undefined) return false;
    this.#rereadFor = undefined;
    if ('error' in reply) throw reply.error;
    const { answer } = reply;
    if (answer === undefined) this.#lose(message);
    else if ('unreadable' in answer) {
      message.values = answer.unreadable;
      message.isUnreadable = true;
      message.reason = this.#ports.unreadable(answer.error);
      this.#giveUp(message);
    } else this.#emitAgain(message, answer.stream, answer.values);
    return true;
  }

  #emitAgain(message: ReplayedMessage, stream: string | undefined, values: unknown): void {
    message.stream = stream;
    if (message.isGivenUp) {
      message.values = values;
      this.#sendLetter(message);
      return;
    }
    if (message.attempts > 0) this.#ports.onRetry();
    this.#emit(message, values);
  }

  #emit(message: ReplayedMessage, values: unknown): void {
    message.attempts += 1;
    try {
      this.#ports.emit(message.stream, values, message);
    } catch (error) {
      // Values that cannot travel are the record's fault; everything else is the author's.
      if (!hasCode(error, 'VALUE_NOT_SERIALIZABLE', 'TUPLE_TOO_LARGE')) throw error;
      message.values = values;
      message.reason = this.#ports.unreadable(error);
      this.#giveUp(message);
    }
  }

  #handleNext(reply: Reply<Answer>): ReplayStep {
    if ('error' in reply) throw reply.error;
    const { answer } = reply;
    if (answer === undefined) return this.#idle();
    if (answer === 'end') {
      this.#hasSourceEnded = true;
      return this.#stepEnd();
    }
    const message = new ReplayedMessage(answer.position, undefined, undefined);
    this.#line.add(message);
    this.#unsettled += 1;
    if ('unreadable' in answer) {
      message.values = answer.unreadable;
      message.isUnreadable = true;
      message.reason = this.#ports.unreadable(answer.error);
      this.#giveUp(message);
      return 'busy';
    }
    message.stream = answer.stream;
    if (this.#ports.source.reread === undefined) message.values = answer.values;
    this.#emit(message, answer.values);
    return 'busy';
  }

  async #stepSoon(): Promise<ReplayStep> {
    await this.#next.soon();
    const reply = this.#next.take();
    return reply === undefined ? this.#idle() : this.#handleNext(reply);
  }

  #stepEnd(): ReplayStep {
    const { committer } = this.#ports;
    if (this.#unsettled > 0 || this.#rereadFor !== undefined) return this.#idle();
    if (committer.isClean) return 'ended';
    if (!this.#isFlushed) void committer.flush();
    this.#isFlushed = true; // If that fails, the committer goes on at its own pace.
    return 'idle';
  }

  /** The next retry ends the wait that follows. */
  #idle(): ReplayStep {
    const { firstDueMs } = this.#waiting;
    if (firstDueMs === undefined || firstDueMs >= this.#timerAtMs) return 'idle';
    const { clock } = this.#ports;
    this.#timer?.cancel();
    this.#timerAtMs = firstDueMs;
    this.#timer = clock.after(Math.max(0, firstDueMs - clock.now()), () => {
      this.#timerAtMs = Number.POSITIVE_INFINITY;
      this.#ports.wake();
    });
    return 'idle';
  }

  #giveUp(message: ReplayedMessage): void {
    message.isGivenUp = true;
    this.#ports.wake(); // Nothing was emitted, but there is more to do.
    if (this.#hasValues(message)) this.#sendLetter(message);
    else this.#waiting.add(message, this.#ports.clock.now());
  }

  #sendLetter(message: ReplayedMessage): void {
    if (this.#ports.emitLetter === undefined) {
      this.#keepLetter(message);
      return;
    }
    message.letterAttempts += 1;
    try {
      this.#ports.emitLetter(message);
    } catch (error) {
      if (!hasCode(error, 'VALUE_NOT_SERIALIZABLE', 'TUPLE_TOO_LARGE')) throw error;
      this.#ports.reportError(error);
      this.#keepLetter(message);
    }
  }

  /** Settles the message when its letter would survive a crash (R2). */
  #keepLetter(message: ReplayedMessage): void {
    const kept = this.#ports.deadLetter(message);
    message.values = undefined;
    void kept.then(() => this.#settle(message));
    this.#ports.wake();
  }

  /** Row S15: told once, and not waited for. */
  #lose(message: ReplayedMessage): void {
    this.#ports.onLostAtSource();
    const why =
      message.reason === undefined ? '' : `, after it had failed (${message.reason.kind})`;
    const text = `lost at source: the message at ${String(message)} is not there any more${why}`;
    this.#ports.reportError(userError('COMPONENT_FAILED', text));
    this.#settle(message);
    this.#ports.wake();
  }

  #settle(message: ReplayedMessage): void {
    if (message.isSettled) return;
    this.#unsettled -= 1;
    message.values = undefined;
    const { letter } = message;
    if (letter !== undefined) {
      message.isSettled = true;
      void letter.remove();
    } else if (this.#line.settle(message)) this.#ports.committer.request(this.#line.committable);
    if (this.#unsettled === 0) this.#ports.wake();
  }

  #hasValues({ values }: ReplayedMessage): boolean {
    return values !== undefined;
  }
}

export function toDeadLetterReason({ kind, component, task, error }: FailReason): DeadLetterReason {
  return { kind, component, task, message: error?.message, stack: error?.stack };
}

/** The reason of a record that is no tuple, in the spout that has read it. */
export function unreadableReason(
  error: unknown,
  component: string,
  task: number,
): DeadLetterReason {
  return { kind: 'unreadable', component, task, message: messageOf(error), stack: stackOf(error) };
}

function parsed(position: string | undefined): unknown {
  try {
    return position === undefined ? undefined : JSON.parse(position);
  } catch {
    return position; // It was no JSON, and is what it was as text.
  }
}

/** Whether it failed because of where it was, not of what it is. */
function isLoss({ kind }: FailReason): boolean {
  return kind === 'lost-instance' || kind === 'lost-stream-manager';
}
