import { assertDefined } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import type { TaskId } from '../base/ids.ts';
import type { Hold } from './hold-book.ts';
import type { InstanceSession } from './instance-session.ts';
import type { UpstreamSpouts } from './upstream-spouts.ts';

/** What is done to a spout; InstanceSession does it. */
export type HeldSession = Pick<InstanceSession, 'setHeld'>;

export interface SpoutHoldsOptions {
  readonly clock: Clock;
  /** The spout tasks of this container that hold from now on. */
  readonly onChange: (held: ReadonlySet<TaskId>) => void;
}

/**
 * The spouts of this container, and for what each of them holds. It tells a spout when the first
 * reason comes and when the last one goes, and in between when the one that it was told is over.
 *
 * H1. A spout holds for as long as there is a reason that reaches it, through any number of
 *     connections of its instance: a new one is told again.
 * H2. Only spouts hold, and only new tuples: what goes to them (acks, fails, credit) goes on.
 */
export class SpoutHolds {
  readonly #options: SpoutHoldsOptions;
  readonly #sessions = new Map<TaskId, HeldSession>();
  /** Of each spout that holds: its reasons, oldest first. */
  readonly #reasons = new Map<TaskId, Set<Hold>>();
  #spouts: UpstreamSpouts | undefined;

  constructor(options: SpoutHoldsOptions) {
    this.#options = options;
  }

  get held(): ReadonlySet<TaskId> {
    return new Set(this.#reasons.keys());
  }

  /** A plan is in force that says which spouts there are; `holds` are all reasons just now. */
  update(spouts: UpstreamSpouts, holds: readonly Hold[]): void {
    const before = new Map(this.#reasons);
    this.#spouts = spouts;
    this.#reasons.clear();
    for (const hold of holds.toSorted((one, other) => one.sinceMs - other.sinceMs)) {
      for (const task of spouts.of(hold.component)) addTo(this.#reasons, task, hold);
    }
    let isChanged = false;
    for (const task of new Set([...before.keys(), ...this.#reasons.keys()])) {
      const told = firstOf(before.get(task) ?? []);
      const next = firstOf(this.#reasons.get(task) ?? []);
      if (next !== told) this.#sessions.get(task)?.setHeld(next);
      isChanged ||= (next === undefined) !== (told === undefined);
    }
    if (isChanged) this.#options.onChange(this.held);
  }

  /** Whether a reason holds any spout of this container; none does before there is a plan. */
  isEffective(hold: Hold): boolean {
    return this.#spouts !== undefined && this.#spouts.of(hold.component).size > 0;
  }

  /** Returns whether it holds any spout of this container; none before there is a plan. */
  add(hold: Hold): boolean {
    if (this.#spouts === undefined) return false;
    const tasks = this.#spouts.of(hold.component);
    let isChanged = false;
    for (const task of tasks) {
      const reasons = this.#reasons.get(task);
      if (reasons !== undefined) reasons.add(hold);
      else {
        this.#reasons.set(task, new Set([hold]));
        this.#sessions.get(task)?.setHeld(hold);
        isChanged = true;
      }
    }
    if (isChanged) this.#options.onChange(this.held);
    return tasks.size > 0;
  }

  /** Takes back one that was added. */
  remove(hold: Hold): void {
    let isChanged = false;
    for (const task of this.#spouts?.of(hold.component) ?? []) {
      const reasons = assertDefined(this.#reasons.get(task), 'the hold was added');
      const told = firstOf(reasons);
      reasons.delete(hold);
      const next = firstOf(reasons);
      if (next !== told) this.#sessions.get(task)?.setHeld(next);
      if (next !== undefined) continue;
      this.#reasons.delete(task);
      isChanged = true;
    }
    if (isChanged) this.#options.onChange(this.held);
  }

  /** An instance has registered. */
  connect(task: TaskId, session: HeldSession): void {
    this.#sessions.set(task, session);
    // After this turn: the answer to its registration comes first (H1).
    this.#options.clock.soon(() => {
      const reason = firstOf(this.#reasons.get(task) ?? []);
      if (reason !== undefined && this.#sessions.get(task) === session) session.setHeld(reason);
    });
  }

  disconnect(task: TaskId): void {
    this.#sessions.delete(task);
  }
}

function addTo(reasons: Map<TaskId, Set<Hold>>, task: TaskId, hold: Hold): void {
  const known = reasons.get(task);
  if (known === undefined) reasons.set(task, new Set([hold]));
  else known.add(hold);
}

function firstOf(holds: Iterable<Hold>): Hold | undefined {
  for (const hold of holds) return hold;
  return undefined;
}
