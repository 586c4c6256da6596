import { containerId } from '../../base/ids.ts';
import { messageOf } from '../../base/errors.ts';
import type { CommandRecord } from '../checkers/checker.ts';
import { type FaultCommand, isLiveCommand, type LiveCommand } from '../faults/fault.ts';

/*
  The person at the terminal of a simulated run: gives the commands of the plan, and at its end sees
  to it that the run can come to its end.

  O1. Commands are given one after the other; one that comes while another runs waits for it. Those
      that change the topology while it runs are given at their time, whatever else is under way.
  O2. After the plan's end a scheduler that died is brought back, a topology that is still paused is
      activated, and a kill that failed is given again: each until it has succeeded.
*/

/** What the operator needs of a cluster. */
export interface OperatedCluster {
  readonly nowMs: number;
  readonly command: {
    activate(): Promise<void>;
    deactivate(): Promise<void>;
    kill(): Promise<void>;
    restart(container?: ReturnType<typeof containerId>): Promise<void>;
    repair(): Promise<unknown>;
  };
  /** Resolves with a look at whether what was asked for has come to be. */
  change(command: LiveCommand): Promise<() => boolean>;
  /** The state that the plan in force has; undefined when there is none. */
  topologyState(): string | undefined;
  /** The pids of the executors that live, by container. */
  executors(): ReadonlyMap<number, number>;
  readonly hasScheduler: boolean;
  readonly isGone: boolean;
}

type OrderedCommand = Exclude<FaultCommand, LiveCommand>;

interface Given {
  readonly record: { -readonly [Key in keyof CommandRecord]: CommandRecord[Key] };
  isReached: () => boolean;
}

export class Operator {
  readonly #cluster: OperatedCluster;
  readonly #given: Given[] = [];
  #last: Promise<void> = Promise.resolve();
  #running = 0;
  #wants: 'RUNNING' | 'PAUSED' | 'killed';

  constructor(cluster: OperatedCluster, { startsActive }: { readonly startsActive: boolean }) {
    this.#cluster = cluster;
    this.#wants = startsActive ? 'RUNNING' : 'PAUSED';
  }

  get records(): readonly CommandRecord[] {
    return this.#given.map(({ record }) => record);
  }

  /** When the kill was given that ended the topology; undefined when none was. */
  get killedFromMs(): number | undefined {
    return this.#given.find(({ record }) => record.command === 'kill')?.record.givenAtMs;
  }

  give(fault: FaultCommand): void {
    this.#running += 1;
    if (isLiveCommand(fault)) void this.#run(fault);
    else this.#last = this.#last.then(() => this.#run(fault));
  }

  /** To be called again and again: notes what has been reached. */
  look(): void {
    for (const { record, isReached } of this.#given) {
      if (record.reachedAtMs === undefined && isReached()) {
        record.reachedAtMs = this.#cluster.nowMs;
      }
    }
  }

  /** To be called again and again after the plan's end (O2). */
  tidyUp(): void {
    if (this.#running > 0 || this.#cluster.isGone) return;
    if (this.#wants === 'killed') this.give({ atMs: 0, kind: 'command', command: 'kill' });
    else if (!this.#cluster.hasScheduler) this.#repair();
    else if (this.#wants === 'PAUSED' || this.#cluster.topologyState() === 'PAUSED') {
      this.give({ atMs: 0, kind: 'command', command: 'activate' });
    }
  }

  #repair(): void {
    this.#running += 1;
    this.#last = this.#last.then(async () => {
      try {
        await this.#cluster.command.repair();
      } catch {
        // Faults may have kept it from its work: the next look tries again.
      }
      this.#running -= 1;
    });
  }

  async #run(fault: FaultCommand): Promise<void> {
    const { command } = fault;
    // Nobody gives a command to a topology that is not there any more.
    if (this.#cluster.isGone) {
      this.#running -= 1;
      return;
    }
    const record: Given['record'] = {
      command,
      givenAtMs: this.#cluster.nowMs,
      returnedAtMs: undefined,
      error: undefined,
      reachedAtMs: undefined,
    };
    const given: Given = { record, isReached: () => false };
    this.#given.push(given);
    try {
      if (isLiveCommand(fault)) given.isReached = await this.#cluster.change(fault);
      else {
        given.isReached = this.#outcomeOf(fault);
        await this.#start(fault);
      }
    } catch (error) {
      record.error = messageOf(error);
    }
    record.returnedAtMs = this.#cluster.nowMs;
    this.#running -= 1;
  }

  async #start(fault: OrderedCommand): Promise<void> {
    const { command } = this.#cluster;
    switch (fault.command) {
      case 'activate':
        this.#wants = 'RUNNING';
        return command.activate();
      case 'deactivate':
        this.#wants = 'PAUSED';
        return command.deactivate();
      case 'kill':
        this.#wants = 'killed';
        return command.kill();
      case 'restart':
        return fault.container === undefined
          ? command.restart()
          : command.restart(containerId(fault.container));
    }
  }

  #outcomeOf(fault: OrderedCommand): () => boolean {
    const cluster = this.#cluster;
    switch (fault.command) {
      case 'activate':
        return () => cluster.topologyState() === 'RUNNING';
      case 'deactivate':
        return () => cluster.topologyState() === 'PAUSED';
      case 'kill':
        return () => cluster.isGone;
      case 'restart': {
        const before = cluster.executors();
        const { container } = fault;
        const chosen = [...before].filter(([id]) => container === undefined || id === container);
        return () => {
          const now = cluster.executors();
          return chosen.every(([id, pid]) => now.has(id) && now.get(id) !== pid);
        };
      }
    }
  }
}
