/*
  Exceptions that user code threw, as the instances reported them. Bounded: the newest
  EXCEPTIONS_MAX of each instance, INSTANCES_MAX instances.

  E1. Heron's topology master keeps each report. A log that joins repeats keeps one record for each
      stack trace of an instance, with the first time, the last time and how often in all; so a
      component that throws at every tuple does not push out what else went wrong.
*/

/** Heron's default for `heron.tmanager.metrics.collector.maximum.exception`. */
const EXCEPTIONS_MAX = 256;
const INSTANCES_MAX = 1_000;

/** One report. The times are text in whatever form the reporter's language writes them. */
export interface ExceptionRecord {
  readonly component: string;
  readonly instance: string;
  readonly hostname: string;
  readonly stackTrace: string;
  readonly firstTime: string;
  readonly lastTime: string;
  readonly count: number;
  readonly logging: string;
}

export interface ExceptionLogOptions {
  /** E1 */
  readonly joinsRepeats?: boolean;
}

/** What one component has thrown. */
export interface ComponentExceptions {
  readonly component: string;
  /** How many in all, of those that are remembered. */
  readonly count: number;
  /** The newest, oldest first. */
  readonly records: readonly ExceptionRecord[];
}

export class ExceptionLog {
  readonly #byInstance = new Map<string, ExceptionRecord[]>();
  /** Of each record, the number of its arrival. */
  readonly #arrivals = new WeakMap<ExceptionRecord, number>();
  readonly #joinsRepeats: boolean;
  #arrived = 0;

  constructor({ joinsRepeats = false }: ExceptionLogOptions = {}) {
    this.#joinsRepeats = joinsRepeats;
  }

  add(record: ExceptionRecord): void {
    const key = JSON.stringify([record.component, record.instance]);
    let records = this.#byInstance.get(key);
    if (records === undefined) {
      if (this.#byInstance.size >= INSTANCES_MAX) return;
      records = [];
      this.#byInstance.set(key, records);
    }
    const kept = this.#joinsRepeats ? joinedWithRepeat(records, record) : record;
    this.#arrived += 1;
    this.#arrivals.set(kept, this.#arrived);
    records.push(kept);
    if (records.length > EXCEPTIONS_MAX) records.shift();
  }

  /** Oldest first for each instance; an empty list of instances means all. */
  of(component: string, instances: readonly string[]): ExceptionRecord[] {
    const isAsked = (record: ExceptionRecord): boolean =>
      record.component === component &&
      (instances.length === 0 || instances.includes(record.instance));
    return [...this.#byInstance.values()].flat().filter(isAsked);
  }

  /** Up to `most` records of each component that has thrown anything. */
  newest(most: number): ComponentExceptions[] {
    const byComponent = Map.groupBy(
      this.#byInstance.values(),
      ([record]) => record?.component ?? '',
    );
    return [...byComponent].map(([component, instances]) => {
      const records = instances.flatMap((all) => all.slice(-most));
      records.sort((one, other) => this.#arrivalOf(one) - this.#arrivalOf(other));
      const count = instances.flat().reduce((sum, record) => sum + record.count, 0);
      return { component, count, records: records.slice(-most) };
    });
  }

  #arrivalOf(record: ExceptionRecord): number {
    return this.#arrivals.get(record) ?? 0;
  }
}

/** Takes an earlier record of the same trace out of the list. */
function joinedWithRepeat(records: ExceptionRecord[], record: ExceptionRecord): ExceptionRecord {
  const index = records.findIndex(({ stackTrace }) => stackTrace === record.stackTrace);
  const [earlier] = index < 0 ? [] : records.splice(index, 1);
  if (earlier === undefined) return record;
  const { firstTime, count } = earlier;
  return { ...record, firstTime, count: count + record.count };
}

/**
 * One record for each class of exception: the text before the first colon of its stack trace.
 * Traces without a colon name no class and are left out, as Heron does.
 */
export function summarize(records: readonly ExceptionRecord[]): ExceptionRecord[] {
  const byClass = new Map<string, ExceptionRecord>();
  for (const record of records) {
    const colon = record.stackTrace.indexOf(':');
    if (colon < 0) continue;
    const stackTrace = record.stackTrace.slice(0, colon);
    const known = byClass.get(stackTrace);
    byClass.set(
      stackTrace,
      known === undefined
        ? { ...record, stackTrace }
        : { ...known, lastTime: record.lastTime, count: known.count + record.count },
    );
  }
  return [...byClass.values()];
}
