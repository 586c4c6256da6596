import { AsyncLocalStorage } from 'node:async_hooks';
import type { Collector } from '../api/collector.ts';
import { type Component, EMITTER, KIND } from '../api/component.ts';
import {
  type AnyComponent,
  type ComponentFactory,
  isSpout,
  streamsOf,
} from '../api/component-runtime.ts';
import { StreamEmitter } from '../api/emitter.ts';
import type { GivenUpMessage } from '../api/given-up-message.ts';
import { isTick } from '../api/tick.ts';
import type { TopologyContext } from '../api/topology-context.ts';
import type { AnyTuple } from '../api/tuple.ts';
import { assertDefined } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { isPromise } from '../instance/task/user-calls.ts';
import type { FailReason } from '../model/fail-reason.ts';
import type { OutputStream } from '../model/logical-topology.ts';
import type { EmittedTuple, ReceivedTuple, TaskHistory } from './task-history.ts';
import { runUserCode, type UserCodeWorld } from './user-code.ts';
import { throughWire } from './wire-values.ts';

/*
  Stands between the engine and a component of the user, in front of each of its methods and behind
  its `emit`: enters the simulated world, and writes down what happens. The engine and the component
  are the real ones and do not notice.
*/

export interface ComponentObserver {
  readonly world: UserCodeWorld;
  readonly history: TaskHistory;
  /** Simulated milliseconds since the start of the run. */
  readonly nowMs: () => number;
  /** Decides whether `nextTuple` is called when the engine calls it. */
  readonly gate?: (nextTuple: () => unknown) => unknown;
  /** Simulated milliseconds that each call of `nextTuple` and `execute` takes; none unless set. */
  readonly callMs?: number;
  /** Hides message ids from the engine, which acks them at once; the test does so itself. */
  readonly keepsMessageIds?: boolean;
}

/** The methods that are called again and again. */
const FREQUENT: ReadonlySet<string> = new Set(['nextTuple', 'execute']);

type Method = (...args: readonly unknown[]) => unknown;

/** A factory whose components are observed. */
export function observe(factory: ComponentFactory, observer: ComponentObserver): ComponentFactory {
  return () => {
    const component = runUserCode(observer.world, factory);
    return new Observation(component, observer).begin();
  };
}

class Observation {
  readonly #component: AnyComponent;
  readonly #observer: ComponentObserver;

  constructor(component: AnyComponent, observer: ComponentObserver) {
    this.#component = component;
    this.#observer = observer;
  }

  begin(): AnyComponent {
    const component = this.#component;
    this.#observer.history.noteStart(component);
    if (isSpout(component)) {
      this.#wrap('open', (call, context) => this.#start('open', call, context));
      const { gate = (nextTuple) => nextTuple() } = this.#observer;
      this.#wrap('nextTuple', (call) => gate(() => this.#call('nextTuple', call)));
      for (const name of ['update', 'activate', 'deactivate', 'close']) {
        this.#wrap(name, (call) => this.#call(name, call));
      }
      for (const name of ['ack', 'fail']) {
        this.#wrap(name, (call, messageId, reason) => {
          this.#noteSettled(messageId, reason as FailReason | undefined);
          return this.#call(name, call);
        });
      }
    } else {
      this.#wrap('prepare', (call, context) => this.#start('prepare', call, context));
      this.#wrap('execute', (call, tuple) => this.#execute(call, tuple as AnyTuple));
      for (const name of ['tick', 'update', 'finish', 'cleanup']) {
        this.#wrap(name, (call) => this.#call(name, call));
      }
    }
    return component;
  }

  #noteSettled(messageId: unknown, reason: FailReason | undefined): void {
    const { history, nowMs } = this.#observer;
    const { taskIndex } = history;
    history.settled.push({ messageId, reason, taskIndex, atMs: nowMs() });
  }

  #wrap(
    name: string,
    around: (call: () => unknown, first: unknown, second: unknown) => unknown,
  ): void {
    const component = this.#component;
    const method = Reflect.get(component, name) as Method | undefined;
    if (method === undefined) return; // An optional one.
    const value = (...args: readonly unknown[]): unknown =>
      around(() => Reflect.apply(method, component, args), args[0], args[1]);
    Object.defineProperty(component, name, { value, configurable: true, writable: true });
  }

  /** The component is attached by now: what it emits passes here from now on. */
  #start(method: string, call: () => unknown, given: unknown): unknown {
    const context = given as TopologyContext;
    const component: Component = this.#component;
    const { collector } = component[EMITTER];
    const streams = streamsOf(component);
    component[EMITTER] = new StreamEmitter(
      context.componentName,
      streams,
      new RecordingCollector(collector, streams, this.#observer),
    );
    this.#observer.history.context = context;
    // Its timers are the user's: their callbacks belong to the world that they were made in.
    Object.defineProperty(context, 'clock', { value: clockWithContext(context.clock) });
    return this.#call(method, call);
  }

  #execute(call: () => unknown, tuple: AnyTuple): unknown {
    if (isTick(tuple)) return this.#call('execute', call);
    const { history, nowMs } = this.#observer;
    const received = receivedTuple(tuple, history, nowMs());
    history.received.push(received);
    RECORDED.set(tuple, received);
    const isBasic = this.#component[KIND] === 'basic-bolt';
    return this.#call('execute', call, (outcome) => {
      history.executed += 1;
      if (!isBasic) return;
      if (outcome === undefined) history.acked.push(received);
      else history.failed.push({ ...received, reason: outcome.error });
    });
  }

  /** Calls user code; `onOver` hears of its end, with what was thrown. */
  #call(
    method: string,
    call: () => unknown,
    onOver: (failure: { readonly error: unknown } | undefined) => void = () => {},
  ): unknown {
    const { world, history } = this.#observer;
    history.begin(method);
    const { callMs } = this.#observer;
    if (callMs !== undefined && FREQUENT.has(method)) world.spend(callMs);
    const end = (failure?: { readonly error: unknown }): void => {
      history.end(method, failure);
      if (failure !== undefined) this.#noteError(method, failure.error);
      onOver(failure);
    };
    let returned: unknown;
    try {
      returned = runUserCode(world, call);
    } catch (error) {
      end({ error });
      throw error;
    }
    if (!isPromise(returned)) {
      end();
      return returned;
    }
    return Promise.resolve(returned).then(
      (value: unknown) => {
        end();
        return value;
      },
      (error: unknown) => {
        end({ error });
        throw error;
      },
    );
  }

  #noteError(method: string, error: unknown): void {
    noteError(this.#observer, method, error);
  }
}

/** What a tuple was written down as; a Bolt acks or fails it later. */
const RECORDED = new WeakMap<AnyTuple, ReceivedTuple>();

class RecordingCollector implements Collector {
  readonly #engine: Collector;
  readonly #streams: readonly OutputStream[];
  readonly #observer: ComponentObserver;

  constructor(engine: Collector, streams: readonly OutputStream[], observer: ComponentObserver) {
    this.#engine = engine;
    this.#streams = streams;
    this.#observer = observer;
  }

  emit(
    streamIndex: number,
    values: readonly unknown[],
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void {
    this.#engine.emit(streamIndex, values, anchors, this.#passedOn(messageId));
    this.#note(streamIndex, values, { messageId, anchors: anchors ?? [], toTask: undefined });
  }

  emitDirect(
    task: number,
    streamIndex: number,
    values: readonly unknown[],
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void {
    this.#engine.emitDirect(task, streamIndex, values, anchors, this.#passedOn(messageId));
    this.#note(streamIndex, values, { messageId, anchors: anchors ?? [], toTask: task });
  }

  ack(tuple: AnyTuple): void {
    this.#engine.ack(tuple);
    const { history } = this.#observer;
    const received = RECORDED.get(tuple);
    if (received !== undefined) history.acked.push(received);
  }

  fail(tuple: AnyTuple, reason: unknown): void {
    this.#engine.fail(tuple, reason);
    const { history } = this.#observer;
    const received = RECORDED.get(tuple);
    if (received !== undefined) history.failed.push({ ...received, reason });
  }

  reportError(error: unknown): void {
    this.#engine.reportError(error);
    noteError(this.#observer, 'reportError', error);
  }

  endOfInput(): void {
    this.#engine.endOfInput();
    this.#observer.history.hasEndedInput = true;
  }

  get inputEnded(): boolean {
    return this.#engine.inputEnded;
  }

  /** A spout alone has no disk: its letters go to the test. */
  deadLetter(message: GivenUpMessage): Promise<void> {
    const { history, keepsMessageIds } = this.#observer;
    history.deadLetters.push(message);
    return keepsMessageIds === true ? Promise.resolve() : this.#engine.deadLetter(message);
  }

  #passedOn(messageId: unknown): unknown {
    return this.#observer.keepsMessageIds ? undefined : messageId;
  }

  #note(
    streamIndex: number,
    values: readonly unknown[],
    rest: Pick<EmittedTuple, 'messageId' | 'anchors' | 'toTask'>,
  ): void {
    const { history, nowMs } = this.#observer;
    const { stream, fields } = assertDefined(this.#streams[streamIndex], 'it is declared');
    const named = byField(fields, values.map(asReceived));
    const { taskIndex } = history;
    history.emitted.push({ stream, values: named, ...rest, taskIndex, atMs: nowMs() });
  }
}

function noteError({ history, nowMs }: ComponentObserver, method: string, error: unknown): void {
  const { component, taskIndex } = history;
  history.errors.push({ component, taskIndex, method, error, atMs: nowMs() });
}

/** The receiver may change what it was given, so this is a copy. */
function receivedTuple(
  tuple: AnyTuple,
  { taskIndex, received }: TaskHistory,
  atMs: number,
): ReceivedTuple {
  const { sourceComponent: source, sourceStream: stream, fields, values } = tuple;
  const copy = byField(fields, values.map(asReceived));
  return { number: received.length, source, stream, values: copy, taskIndex, atMs };
}

/** On a stream that nobody reads, values are never encoded; there they may be anything. */
function asReceived(value: unknown): unknown {
  try {
    return throughWire(value);
  } catch {
    return value;
  }
}

function byField(fields: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field, index) => [field, values[index]]));
}

function clockWithContext(clock: Clock): Clock {
  const bound = (call: () => void): (() => void) => AsyncLocalStorage.bind(call);
  return {
    now: () => clock.now(),
    wallNow: () => clock.wallNow(),
    after: (delayMs, call) => clock.after(delayMs, bound(call)),
    every: (periodMs, call) => clock.every(periodMs, bound(call)),
    soon: (call) => clock.soon(bound(call)),
  };
}
