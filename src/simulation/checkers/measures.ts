import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { Settings } from '../../model/settings.ts';
import type { DataHoldings } from '../../stream-manager/data-holdings.ts';
import type { WorkloadDescription } from '../workload/workload-description.ts';
import type { Measure } from './checker.ts';

/*
  What the processes of a run hold, against what they may hold: the terms of the sum in
  stream-manager/data-path.ts, the windows of credits.ts, and what waits in an instance outside of
  its rings. Rings have a fixed size and cannot grow.
*/

const KIB = 1024;
/** What a set has in it besides the payload of its last tuple, which may be a large one. */
const SET_BYTES = 40 * KIB;

/** The largest set that a workload makes: a full one, and the tuple that filled it. */
export function largestSetBytes({ spouts, bolts }: WorkloadDescription): number {
  const streams = [...spouts, ...bolts].flatMap((component) => component.streams);
  return SET_BYTES + Math.max(0, ...streams.flatMap(({ payloadBytes }) => payloadBytes));
}

/** What waits in an instance outside of its rings. */
export interface InstanceHoldings {
  /** Arrived from the stream manager, for a ring that is full. */
  readonly waitingBytes: number;
  /** Emitted in a call that could not be stopped in its middle, for a ring that is full. */
  readonly keptBytes: number;
}

export interface MeasuredRun {
  /** With all tasks and stream managers that there have been. */
  readonly plan: PhysicalPlan;
  readonly workload: WorkloadDescription;
}

export class HoldingsMeasurer {
  readonly #plan: PhysicalPlan;
  readonly #workload: WorkloadDescription;
  readonly #peerWindowBytes: number;
  readonly #instanceWindowBytes: number;
  readonly #setBytes: number;

  constructor({ plan, workload }: MeasuredRun) {
    const settings = new Settings(plan.topology.config);
    this.#plan = plan;
    this.#workload = workload;
    this.#peerWindowBytes = settings.get('heron.streammgr.credit.bytes');
    this.#instanceWindowBytes = settings.get('heron.instance.credit.bytes');
    this.#setBytes = largestSetBytes(workload);
  }

  /** By the public getters of a stream manager. */
  ofStreamManager(id: string, holdings: DataHoldings): readonly Measure[] {
    const { streamManagers, instances } = this.#plan;
    const fromInstance = this.#instanceWindowBytes + this.#setBytes;
    const fromSender = this.#peerWindowBytes + this.#setBytes;
    const localTasks = instances.filter(({ streamManager }) => streamManager === id).length;
    const limit = {
      limitBytes: streamManagers.length * fromSender,
      perConnectionEndBytes: fromSender,
    };
    return [
      {
        what: 'sets that wait in all outboxes',
        bytes: holdings.outboxes.reduce((sum, { queuedBytes }) => sum + queuedBytes, 0),
        limitBytes: localTasks * instances.length * fromInstance,
      },
      {
        what: 'sets that came before a plan',
        bytes: holdings.heldBytes,
        limitBytes: localTasks * fromInstance,
      },
      ...holdings.outboxes.map(({ task, underWayBytes }) => ({
        what: `what is under way to task ${task}`,
        bytes: underWayBytes,
        limitBytes: fromSender,
      })),
      ...holdings.destinations.flatMap(({ task, unconsumedBytes, waitingBytes }) => [
        { what: `what task ${task} has not consumed`, bytes: unconsumedBytes, ...limit },
        { what: `what waits for the instance of task ${task}`, bytes: waitingBytes, ...limit },
      ]),
    ];
  }

  ofInstance(component: string, { waitingBytes, keptBytes }: InstanceHoldings): readonly Measure[] {
    const fromSender = this.#peerWindowBytes + this.#setBytes;
    const keptLimitBytes = keptBytesMax(component, this.#workload);
    const waiting = {
      what: 'sets that wait for room in the data-in ring',
      bytes: waitingBytes,
      limitBytes: this.#plan.streamManagers.length * fromSender,
    };
    if (keptLimitBytes === undefined) return [waiting];
    const what = 'sets that wait for room in the data-out ring';
    return [waiting, { what, bytes: keptBytes, limitBytes: keptLimitBytes }];
  }
}

/** Everything around the payload of a tuple of a workload, rounded up: keys of 300 bytes, tags. */
const TUPLE_BYTES = 1024;
/** The least tuple: its number, two keys and an empty payload take more. */
const TUPLE_BYTES_MIN = 12;

/** A concurrent bolt takes so many tuples for each one that it executes. */
const TAKEN_PER_CALL = 9;

/**
 * What one call of user code can emit, since the runner makes no further one while there is no
 * room: a call of `nextTuple`, or the calls of `execute` for one set. Undefined where timers emit,
 * which nobody can hold back.
 */
function keptBytesMax(name: string, workload: WorkloadDescription): number | undefined {
  const spout = workload.spouts.find((candidate) => candidate.name === name);
  if (spout !== undefined) {
    const { pace, streams } = spout;
    if (pace.kind === 'timer') return undefined;
    const tuples = pace.kind === 'flood' ? pace.perCall : pace.kind === 'burst' ? pace.size : 1;
    return 2 * SET_BYTES + tuples * (largestPayload(streams) + TUPLE_BYTES);
  }
  const bolt = workload.bolts.find((candidate) => candidate.name === name);
  if (bolt === undefined || bolt.style.kind === 'detached') return undefined;
  const { streams, fanOut, emitsInFinish, concurrency } = bolt;
  const begunBefore = (concurrency?.count ?? 0) * TAKEN_PER_CALL;
  const executed = largestSetBytes(workload) / TUPLE_BYTES_MIN + begunBefore;
  const tuples = Math.max(executed * fanOut, emitsInFinish) * streams.length;
  return 2 * SET_BYTES + tuples * (largestPayload(streams) + TUPLE_BYTES);
}

function largestPayload(streams: WorkloadDescription['spouts'][number]['streams']): number {
  return Math.max(0, ...streams.flatMap(({ payloadBytes }) => payloadBytes));
}
