import type { AnySpout } from '../api/component-runtime.ts';
import { EngineError, messageOf, userError } from '../base/errors.ts';
import { componentName, taskId } from '../base/ids.ts';
import type { FailKind, FailReason } from '../model/fail-reason.ts';
import { ComponentInTest, type ComponentTestOptions } from './component-in-test.ts';
import { LoneTask } from './lone-task.ts';
import { spoutAlone } from './lone-topology.ts';

/** What {@link testSpout} can be told. */
export interface TestSpoutOptions extends ComponentTestOptions {
  /** False: the topology is paused at first. */
  readonly active?: boolean;
}

/** Why a tuple has failed, as far as it matters to the test. */
export interface GivenReason {
  /** `explicit` unless set. */
  readonly kind?: FailKind;
  /** The component that it failed in. */
  readonly component?: string;
  readonly task?: number;
  /** The message of what was thrown, or given to `fail`; or the error itself. */
  readonly error?: unknown;
}

function wholeReason({ kind = 'explicit', component, task, error }: GivenReason): FailReason {
  return {
    kind,
    component: component === undefined ? undefined : componentName(component),
    task: task === undefined ? undefined : taskId(task),
    error:
      error === undefined
        ? undefined
        : {
            message: messageOf(error),
            stack: error instanceof Error ? error.stack : undefined,
          },
  };
}

/** More calls than a bounded input of a test has a reason for. */
const CALLS_MAX = 10_000;

/**
 * Runs one spout alone: the real instance around it, with simulated time, and the test in place of
 * everything downstream. Resolves when `open` has returned. `nextTuple` is called when the test
 * says so, and the test decides what becomes of tuples with a message id.
 *
 * @example
 * ```ts
 * test('sends again what failed', async () => {
 *   await using spout = await testSpout(() => new Orders(['a']));
 *   await spout.nextTuple();
 *   await spout.fail('a', { kind: 'time-out' });
 *   await spout.nextTuple();
 *   assert.deepEqual(spout.outputs(), [{ order: 'a' }, { order: 'a' }]);
 * });
 * ```
 *
 * @throws EngineError INVALID_TOPOLOGY or INVALID_CONFIG as at a submit, and what `open` throws.
 */
export async function testSpout<Made extends AnySpout>(
  factory: () => Made,
  options: TestSpoutOptions = {},
): Promise<SpoutInTest<Made>> {
  const { name = 'spout', seed = 1, taskIndex = 0, allow = [], active = true } = options;
  const gate = new CallGate();
  const { built, streams } = spoutAlone(name, factory, options);
  const task = new LoneTask({
    built,
    component: name,
    taskIndex,
    seed,
    allow,
    isActive: active,
    gate: (nextTuple) => gate.pass(nextTuple),
    keepsMessageIds: true,
  });
  const spout = new SpoutInTest<Made>(task, streams, { gate, isActive: active });
  await task.start();
  return spout;
}

/** A spout that runs alone; see {@link testSpout}. */
export class SpoutInTest<Made extends AnySpout> extends ComponentInTest<Made> {
  readonly #gate: CallGate;
  #isActive: boolean;

  /** Made by {@link testSpout} only. */
  constructor(
    task: LoneTask,
    streams: readonly string[],
    { gate, isActive }: { readonly gate: CallGate; readonly isActive: boolean },
  ) {
    super(task, streams);
    this.#gate = gate;
    this.#isActive = isActive;
  }

  /**
   * Has `nextTuple` called so many times, and resolves when the last call is over: its promise is
   * awaited, for as much simulated time as it takes. Ends early when the spout says `endOfInput()`.
   *
   * @throws What `nextTuple` throws, which has ended the instance: see {@link restart}.
   */
  async nextTuple(times = 1): Promise<void> {
    if (!this.#isActive) {
      throw userError('INVALID_ARGUMENT', 'the spout is paused: activate() it first');
    }
    if (this.hasEnded) {
      throw userError(
        'INVALID_ARGUMENT',
        'the spout has said endOfInput(): it is not called again',
      );
    }
    const target = this.#gate.admit(times);
    const { history } = this.task;
    try {
      await this.perform(() => history.context?.wake());
      await this.task.reach(
        () => this.hasEnded || (this.#gate.passed >= target && history.callsUnderWay === 0),
        'a promise of nextTuple is pending',
      );
    } finally {
      this.#gate.close();
    }
  }

  /**
   * Has `nextTuple` called until the spout says `endOfInput()`.
   *
   * @throws EngineError RUN_NOT_FINISHED when it does not within `callsMax` calls: 10,000 unless
   *   set.
   */
  async untilEndOfInput({
    callsMax = CALLS_MAX,
  }: {
    readonly callsMax?: number;
  } = {}): Promise<void> {
    await this.nextTuple(callsMax);
    if (this.hasEnded) return;
    const text = `the spout has not said endOfInput() after ${callsMax} calls of nextTuple`;
    throw new EngineError('RUN_NOT_FINISHED', text, { domain: 'user' });
  }

  /** Tells the spout that the tuple with this message id has been processed. */
  async ack(messageId: unknown): Promise<void> {
    await this.#tell(() => this.component.ack(messageId));
  }

  /**
   * Tells the spout that the tuple with this message id has not been processed: because a bolt
   * failed it, unless `reason` says otherwise.
   */
  async fail(messageId: unknown, reason: GivenReason = {}): Promise<void> {
    await this.#tell(() => this.component.fail(messageId, wholeReason(reason)));
  }

  /** The topology runs again. */
  async activate(): Promise<void> {
    await this.#setActive(true);
  }

  /** The topology is paused. */
  async deactivate(): Promise<void> {
    await this.#setActive(false);
  }

  /** One call of a component at a time; what it throws ends the instance. */
  async #tell(call: () => unknown): Promise<void> {
    const { task } = this;
    await task.reach(() => task.history.callsUnderWay === 0, 'a call of the spout is pending');
    try {
      await this.perform(call);
    } catch (error) {
      task.fail(error);
      throw error;
    }
  }

  async #setActive(isActive: boolean): Promise<void> {
    if (isActive === this.#isActive) return;
    this.#isActive = isActive;
    const { task } = this;
    const method = isActive ? 'activate' : 'deactivate';
    const callsBefore = task.history.callsOf(method);
    task.setActive(isActive);
    await task.reach(
      () => task.history.callsOf(method) > callsBefore && task.history.callsUnderWay === 0,
      `${method} has not returned`,
    );
  }
}

/** Lets the engine's calls of `nextTuple` through to the spout when the test asks for them. */
class CallGate {
  /** Calls that are over. */
  passed = 0;
  #admitted = 0;
  #begun = 0;

  /** Admits so many more; returns what `passed` will be after them. */
  admit(times: number): number {
    this.#admitted = this.#begun + times;
    return this.#admitted;
  }

  /** Takes back what has been admitted and not used. */
  close(): void {
    this.#admitted = this.#begun;
  }

  pass(nextTuple: () => unknown): unknown {
    if (this.#begun >= this.#admitted) return undefined;
    this.#begun += 1;
    const over = (): void => void (this.passed += 1);
    let returned: unknown;
    try {
      returned = nextTuple();
    } catch (error) {
      over();
      throw error;
    }
    if (!(returned instanceof Promise)) over();
    else returned.then(over, over);
    return returned;
  }
}
