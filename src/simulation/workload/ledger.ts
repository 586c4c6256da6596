import { assertDefined } from '../../base/assert.ts';
import type { TaskId } from '../../base/ids.ts';
import type { Life } from './life.ts';
import { MessageLog } from './message-log.ts';
import { NumberColumn } from './number-column.ts';

/*
  What user code saw, in the order in which it saw it. User code of all tasks writes here, directly:
  the ledger is the world outside of the topology, like a database that every task can reach, and
  outlives the processes.

  B1. The number of a tuple is its position among all emits: numbers ascend with time.
  B2. A life is one component object from its `open` or `prepare` on; a task that is started again
      begins another one.
  B3. Columns of numbers in place of objects: a run writes thousands of entries, 200 runs are made
      within a minute.
*/

export interface Emitted {
  readonly life: number;
  readonly stream: string;
  readonly firstKey: number;
  readonly secondKey: number;
  readonly atMs: number;
}

export interface Executed {
  readonly tuple: number;
  readonly life: number;
  /** When `execute` was called. */
  readonly atMs: number;
}

/** User code that kept its thread for a while, as planned. */
export interface Hang {
  readonly task: TaskId;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What user code was shown of the plan, when it was opened and whenever it was told of another. */
export interface SeenByTask {
  readonly life: Life;
  readonly atMs: number;
  /** The tasks of its component, ascending, without those that retire. */
  readonly tasks: readonly TaskId[];
  readonly parallelism: number;
  readonly isRetiring: boolean;
  /** The setting that can be changed while the topology runs. */
  readonly value: string | undefined;
}

/** Marks an emit that `emit` refused: the tuple never existed. */
const REFUSED = -1;

export class Ledger {
  readonly lives: Life[] = [];
  /** Tuples that arrived with other content than they were sent with, in words. */
  readonly misreadings: string[] = [];
  /** Calls of user code beside others that they had to wait for, in words. */
  readonly overlaps: string[] = [];
  readonly hangs: Hang[] = [];
  readonly sights: SeenByTask[] = [];
  /** Filled at least once only. */
  readonly trees = new MessageLog(() => this.#now());
  readonly #streams = new Map<string, number>();
  readonly #streamNames: string[] = [];
  readonly #emitLife = new NumberColumn();
  readonly #emitStream = new NumberColumn();
  readonly #emitFirst = new NumberColumn();
  readonly #emitSecond = new NumberColumn();
  readonly #emitAtMs = new NumberColumn();
  readonly #executeTuple = new NumberColumn();
  readonly #executeLife = new NumberColumn();
  readonly #executeAtMs = new NumberColumn();
  readonly #counts = new Map<string, number>();
  #now: () => number = () => 0;

  /** Time for the entries: that of the simulation, the same on all threads. */
  useClock(now: () => number): void {
    this.#now = now;
  }

  open(task: TaskId, component: string, taskIndex: number): Life {
    const life: Life = {
      index: this.lives.length,
      task,
      component,
      taskIndex,
      openedAtMs: this.#now(),
      finishCalls: 0,
      executesBeforeFinish: undefined,
      endedAtMs: undefined,
      threwAtMs: undefined,
    };
    this.lives.push(life);
    return life;
  }

  /** Gives a tuple its number; call it right before `emit`. */
  emit(life: Life, stream: string, firstKey: number, secondKey: number): number {
    const tuple = this.#emitLife.length;
    this.#emitLife.push(life.index);
    this.#emitStream.push(this.#streamNumber(stream));
    this.#emitFirst.push(firstKey);
    this.#emitSecond.push(secondKey);
    this.#emitAtMs.push(this.#now());
    return tuple;
  }

  /** `emit` threw: there is no such tuple. */
  refuse(tuple: number): void {
    this.#emitLife.replace(tuple, REFUSED);
  }

  execute(life: Life, tuple: number): void {
    this.#executeTuple.push(tuple);
    this.#executeLife.push(life.index);
    this.#executeAtMs.push(this.#now());
  }

  misread(what: string): void {
    this.misreadings.push(what);
  }

  overlap(what: string): void {
    this.overlaps.push(what);
  }

  beginFinish(life: Life): void {
    life.finishCalls += 1;
    life.executesBeforeFinish ??= this.executeCount;
  }

  /** All of a life's work is done: `finish` has returned, or the spout has no more input. */
  end(life: Life): void {
    life.endedAtMs ??= this.#now();
  }

  /** Something is about to be thrown that ends the instance. */
  throws(life: Life): void {
    life.threwAtMs ??= this.#now();
  }

  /** A task looks at its context. */
  see(life: Life, seen: Omit<SeenByTask, 'life' | 'atMs'>): void {
    this.sights.push({ life, atMs: this.#now(), ...seen });
  }

  /** Call it right before it hangs. */
  hang({ task }: Life, forMs: number): void {
    const fromMs = this.#now();
    this.hangs.push({ task, fromMs, untilMs: fromMs + forMs });
  }

  /** Counts something over all lives of a task: its calls, how far its input is read. */
  count(what: string, task: TaskId): number {
    const key = `${what} ${task}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }

  counted(what: string, task: TaskId): number {
    return this.#counts.get(`${what} ${task}`) ?? 0;
  }

  get emitCount(): number {
    return this.#emitLife.length;
  }

  get executeCount(): number {
    return this.#executeTuple.length;
  }

  /** Undefined for a number that was never given, and for one whose emit was refused. */
  emitted(tuple: number): Emitted | undefined {
    const life = this.#emitLife.at(tuple);
    if (!(life >= 0)) return undefined;
    return {
      life,
      stream: assertDefined(this.#streamNames[this.#emitStream.at(tuple)], 'streams are numbered'),
      firstKey: this.#emitFirst.at(tuple),
      secondKey: this.#emitSecond.at(tuple),
      atMs: this.#emitAtMs.at(tuple),
    };
  }

  /** The `index`th call of any `execute`. */
  executed(index: number): Executed {
    return {
      tuple: this.#executeTuple.at(index),
      life: this.#executeLife.at(index),
      atMs: this.#executeAtMs.at(index),
    };
  }

  life(index: number): Life {
    return assertDefined(this.lives[index], 'entries name lives that were opened');
  }

  livesOf(task: TaskId): readonly Life[] {
    return this.lives.filter((life) => life.task === task);
  }

  #streamNumber(stream: string): number {
    let number = this.#streams.get(stream);
    if (number === undefined) {
      number = this.#streamNames.push(stream) - 1;
      this.#streams.set(stream, number);
    }
    return number;
  }
}
