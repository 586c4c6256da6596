/*
  One quantity over the sizes of a topology, and how it grows: y = a · n^b, fitted by least squares
  of log y over log n.
*/

export interface Measurement {
  readonly what: string;
  readonly unit: string;
  /** By the number of containers. */
  readonly values: ReadonlyMap<number, number>;
}

/** Adds measurements up while the sizes are gone through one after the other. */
export class Measurements {
  readonly #values = new Map<string, { readonly unit: string; values: Map<number, number> }>();

  note(size: number, what: string, value: number, unit: string): void {
    const known = this.#values.get(what) ?? { unit, values: new Map<number, number>() };
    known.values.set(size, value);
    this.#values.set(what, known);
  }

  get all(): readonly Measurement[] {
    return [...this.#values].map(([what, { unit, values }]) => ({ what, unit, values }));
  }
}

/** NaN with fewer than two values above zero. */
export function exponentOf({ values }: Measurement): number {
  const points = [...values]
    .filter(([, value]) => value > 0)
    .map(([size, value]) => ({ x: Math.log(size), y: Math.log(value) }));
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const covariance = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
}

/** By the growth between the two largest sizes that were measured. */
function extrapolated({ values }: Measurement, size: number): number | undefined {
  const [before, last] = [...values].slice(-2);
  if (before === undefined || last === undefined || size < last[0]) return undefined;
  const exponent = exponentOf({ what: '', unit: '', values: new Map([before, last]) });
  return Number.isFinite(exponent) ? last[1] * (size / last[0]) ** exponent : undefined;
}

/** As the tables of docs/scale.md are written. */
export function tableOf(measurements: readonly Measurement[], sizes: readonly number[]): string {
  const rows = measurements.map((measurement) => {
    const cells = sizes.map((size) => {
      const value = measurement.values.get(size);
      if (value !== undefined) return textOf(value);
      const estimate = extrapolated(measurement, size);
      return estimate === undefined ? '' : `~${textOf(estimate)}`;
    });
    const exponent = exponentOf(measurement);
    const growth = Number.isFinite(exponent) ? exponent.toFixed(2) : '';
    return [`${measurement.what}, ${measurement.unit}`, ...cells, growth];
  });
  const head = ['', ...sizes.map(String), 'exponent'];
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function textOf(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
