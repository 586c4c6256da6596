import { MetricKind as WireKind } from './generated/tmanager_pb.js';

/*
  The kind of a metric as messages carry it, in a field that other engines do not send and skip.
*/

/** Counted since the last publication, the mean since then, or the value at that moment. */
type MetricKind = 'count' | 'mean' | 'value';

const ON_THE_WIRE: Readonly<Record<MetricKind, WireKind>> = {
  count: WireKind.METRIC_COUNT,
  mean: WireKind.METRIC_MEAN,
  value: WireKind.METRIC_VALUE,
};

const FROM_THE_WIRE = new Map<WireKind, MetricKind>([
  [WireKind.METRIC_COUNT, 'count'],
  [WireKind.METRIC_MEAN, 'mean'],
  [WireKind.METRIC_VALUE, 'value'],
]);

/** The field `kind` of a message. */
export function wireKindOf(metric: { readonly kind?: MetricKind | undefined }): {
  readonly kind?: WireKind;
} {
  return metric.kind === undefined ? {} : { kind: ON_THE_WIRE[metric.kind] };
}

interface WireMetric {
  readonly name: string;
  readonly value: string;
  readonly kind: WireKind;
}

/** A metric as it came; a kind of a later version counts as none. */
export function metricOf(datum: WireMetric): {
  readonly name: string;
  readonly value: string;
  readonly kind?: MetricKind;
} {
  const { name, value } = datum;
  // The generated code reads an absent field as its first value.
  const kind = Object.hasOwn(datum, 'kind') ? FROM_THE_WIRE.get(datum.kind) : undefined;
  return kind === undefined ? { name, value } : { name, value, kind };
}
