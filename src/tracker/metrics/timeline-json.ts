import { MINUTE_SECONDS, type MinuteRow } from './query-evaluation.ts';
import type { SeriesRow } from '../../topology-client/series.ts';

/*
  Points over minutes as JSON, written directly: an object with a member for each of half a million
  points would take a second to make and to write, and this takes some tens of milliseconds.
*/

/** Heron's Tracker has numbers on the newer paths and texts on the older one. */
export type PointForm = 'number' | 'text';

/** `{"<start of a minute>": value, …}` of the points that there are. */
export class PointsWriter {
  readonly #keys: readonly string[];
  readonly #form: PointForm;

  constructor(firstSeconds: number, columns: number, form: PointForm) {
    this.#form = form;
    this.#keys = Array.from(
      { length: columns },
      (_, column) => `,"${firstSeconds + column * MINUTE_SECONDS}":`,
    );
  }

  write(points: Float64Array): string {
    const keys = this.#keys;
    let text = '';
    for (let at = 0; at < points.length; at += 1) {
      const point = points[at] as number;
      // What is no finite number has no form in JSON.
      if (point - point !== 0) continue;
      text += keys[at] as string;
      text += this.#form === 'number' ? point : `"${heronText(point)}"`;
    }
    return `{${text.slice(1)}}`;
  }
}

/** As C++ writes a double, which is how Heron's stores tell numbers. */
export function heronText(value: number): string {
  return Number.isNaN(value) ? 'nan' : value.toFixed(6);
}

/** `{metric: {instance: {minute: value}}}` */
export function timelineText(rows: readonly SeriesRow[], writer: PointsWriter): string {
  const metrics = [...Map.groupBy(rows, ({ metric }) => metric)].map(([metric, own]) => {
    const instances = own.map(
      ({ instance, points }) => `${JSON.stringify(instance)}:${writer.write(points)}`,
    );
    return `${JSON.stringify(metric)}:{${instances.join(',')}}`;
  });
  return `{${metrics.join(',')}}`;
}

/** `[{instance, data: {minute: value}}]` */
export function resultText(rows: readonly MinuteRow[], writer: PointsWriter): string {
  const written = rows.map(({ instance, points }) => {
    const whose = JSON.stringify(instance ?? null);
    return `{"instance":${whose},"data":${writer.write(points)}}`;
  });
  return `[${written.join(',')}]`;
}
