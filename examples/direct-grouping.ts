/*
  A component that decides itself who gets each tuple. Jobs take from 1 to 9 minutes; the planner
  hands each job to the worker that has the least to do so far.

      heron run local/$USER/dev examples/direct-grouping.ts direct-grouping $PWD/workers.txt

  Argument: the file for the result.
*/

import { BasicBolt, fields, Spout, topology, type TopologyContext, type Tuple } from 'heron-ts';
import { SortedLines } from './sorted-lines.ts';

interface Job {
  readonly job: number;
  readonly minutes: number;
}

const MINUTES = [9, 1, 1, 8, 2, 3, 4, 4, 5, 5, 6, 3];

class Jobs extends Spout.of({ default: fields<Job>()('job', 'minutes') }) {
  #next = 0;

  override nextTuple(): void {
    const minutes = MINUTES[this.#next];
    if (minutes === undefined) {
      this.endOfInput();
      return;
    }
    this.emit({ job: this.#next, minutes });
    this.#next += 1;
  }
}

class Plan extends BasicBolt.of({ default: fields<Job>()('job', 'minutes') }) {
  #workers: { readonly task: number; minutes: number }[] = [];

  override prepare(context: TopologyContext): void {
    this.#workers = context.componentTasks('work').map((task) => ({ task, minutes: 0 }));
  }

  override execute(tuple: Tuple<Job>): void {
    const minutes = tuple.get('minutes');
    const idlest = this.#workers.reduce((a, b) => (b.minutes < a.minutes ? b : a));
    idlest.minutes += minutes;
    this.emitDirect(idlest.task, { job: tuple.get('job'), minutes });
  }
}

class Work extends BasicBolt.of({
  default: fields<{ worker: string; jobs: string; minutes: number }>()('worker', 'jobs', 'minutes'),
}) {
  readonly #jobs: number[] = [];
  #worker = 0;
  #minutes = 0;

  override prepare(context: TopologyContext): void {
    this.#worker = context.taskIndex;
  }

  override execute(tuple: Tuple<Job>): void {
    this.#jobs.push(tuple.get('job'));
    this.#minutes += tuple.get('minutes');
  }

  override finish(): void {
    const worker = `worker ${this.#worker}: jobs`;
    this.emit({ worker, jobs: this.#jobs.join(','), minutes: this.#minutes });
  }
}

export default topology('direct-grouping', (builder, [result = 'workers.txt']) => {
  const jobs = builder.setSpout('jobs', () => new Jobs());
  const plan = builder.setBolt('plan', () => new Plan()).shuffleGrouping(jobs);
  const work = builder.setBolt('work', () => new Work(), { parallelism: 3 }).directGrouping(plan);
  builder.setBolt('result', () => new SortedLines(result)).globalGrouping(work);
});
