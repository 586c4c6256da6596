import type { MinuteNumber, TaskNumbers } from '../../topology-client/master-client.ts';

/*
  Rates and recent means of the metrics of one component, out of what the topology master keeps by
  the minute. What arrives there is as coarse as `heron.metrics.export.interval.ms`, a minute
  unless set, so a rate is told in one of two ways:

  B1. By what was seen to arrive: from one arrival to a later one, over ten seconds or more, or
      over as many exports. It is right to the distance of two looks.
  B2. Until two arrivals have been seen: by the last whole minute; in its absence by the running
      one, over the time in which something could arrive.

  B3. A count that does not arrive is zero: processes publish no zeros. A process of which nothing
      has ever arrived is not known.
  B4. Bounded: a series remembers SAMPLES_MAX arrivals and the minutes of the last answer; what is
      not answered any more is forgotten.
*/

export interface RateBookOptions {
  /** Seconds. */
  readonly exportSeconds: number;
  /** When the topology was submitted, in seconds since the epoch. */
  readonly startedSeconds: number;
}

/** Metrics of which the numbers of a minute are added up; of others they are means or values. */
const COUNTED = /^__(?:[a-z]+-count|time_spent_back_pressure_by_compid)\//;
const WINDOW_SECONDS = 10;
const SAMPLES_MAX = 32;
const MINUTE_SECONDS = 60;
/** An export that is later than this has brought nothing. */
const LATE = 2.2;

interface Arrival {
  readonly atSeconds: number;
  readonly total: number;
}

interface Series {
  readonly arrivals: Arrival[];
  minutes: readonly MinuteNumber[];
  total: number;
}

export class RateBook {
  readonly #options: RateBookOptions;
  #instances = new Map<string, Map<string, Series>>();
  #nowSeconds = 0;

  constructor(options: RateBookOptions) {
    this.#options = options;
  }

  /** Takes an answer up. Seconds since the epoch; minutes newest first. */
  observe(tasks: TaskNumbers<readonly MinuteNumber[]>, nowSeconds: number): void {
    this.#nowSeconds = nowSeconds;
    const instances = new Map<string, Map<string, Series>>();
    for (const [instance, metrics] of tasks) {
      const known = this.#instances.get(instance);
      // What has been idle for long is not answered, and begins anew (B4).
      const series = new Map<string, Series>();
      for (const [metric, minutes] of metrics) {
        if (minutes.length > 0) series.set(metric, seen(known?.get(metric), minutes, nowSeconds));
      }
      instances.set(instance, series);
    }
    this.#instances = instances;
  }

  get instances(): readonly string[] {
    return [...this.#instances.keys()];
  }

  /** Rates per second of counts, recent means of the rest; undefined: nothing is known (B3). */
  numbers(instance: string, metrics: readonly string[]): ReadonlyMap<string, number> | undefined {
    const series = this.#instances.get(instance);
    if (series === undefined) return undefined;
    const numbers = new Map<string, number>();
    for (const metric of metrics) {
      const found = series.get(metric);
      if (COUNTED.test(metric)) numbers.set(metric, found === undefined ? 0 : this.#rate(found));
      else if (found !== undefined) numbers.set(metric, recent(found.minutes));
    }
    return numbers;
  }

  #rate({ arrivals, minutes }: Series): number {
    const { exportSeconds } = this.#options;
    const last = arrivals.at(-1);
    if (last !== undefined && arrivals.length >= 2) {
      const quietSeconds = this.#nowSeconds - last.atSeconds;
      if (quietSeconds > Math.max(LATE * exportSeconds, 5)) return 0;
      const span = Math.max(WINDOW_SECONDS, LATE * exportSeconds);
      const first = arrivals.find(({ atSeconds }) => last.atSeconds - atSeconds <= span);
      if (first !== undefined && first !== last) {
        return (last.total - first.total) / (last.atSeconds - first.atSeconds);
      }
    }
    return this.#byTheMinute(minutes);
  }

  #byTheMinute(minutes: readonly MinuteNumber[]): number {
    const { exportSeconds, startedSeconds } = this.#options;
    const thisMinute = Math.floor(this.#nowSeconds / MINUTE_SECONDS) * MINUTE_SECONDS;
    const [newest] = minutes;
    const whole = minutes.find(({ startSeconds }) => startSeconds === thisMinute - MINUTE_SECONDS);
    const shown = whole ?? newest;
    if (shown === undefined || shown.startSeconds < thisMinute - MINUTE_SECONDS) return 0;
    const begin = Math.max(shown.startSeconds, startedSeconds);
    const end = Math.min(this.#nowSeconds, shown.startSeconds + MINUTE_SECONDS);
    const seconds = Math.max(end - begin, Math.min(exportSeconds, MINUTE_SECONDS), 1);
    return shown.value / seconds;
  }
}

function seen(
  known: Series | undefined,
  minutes: readonly MinuteNumber[],
  atSeconds: number,
): Series {
  if (known === undefined) return { arrivals: [], minutes, total: 0 };
  const before = new Map(known.minutes.map(({ startSeconds, value }) => [startSeconds, value]));
  let added = 0;
  for (const { startSeconds, value } of minutes) {
    const earlier = before.get(startSeconds) ?? 0;
    // A master that was restarted begins again: its minute is new as a whole.
    added += value >= earlier ? value - earlier : value;
  }
  known.minutes = minutes;
  if (added === 0) return known;
  known.total += added;
  known.arrivals.push({ atSeconds, total: known.total });
  if (known.arrivals.length > SAMPLES_MAX) known.arrivals.shift();
  return known;
}

/** The mean of the two newest minutes. */
function recent(minutes: readonly MinuteNumber[]): number {
  const values = minutes.slice(0, 2).map(({ value }) => value);
  const known = values.filter((value) => !Number.isNaN(value));
  return known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length);
}
