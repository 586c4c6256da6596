import { kindOf } from '../metrics/aggregation.ts';
import type { Metric } from '../metrics/metrics-registry.ts';
import { histogramBounds, histogramName, metricFactsOf } from './metric-name.ts';
import type { MetricsRecord } from './sink.ts';

/*
  An ExportMetricsServiceRequest of OTLP, in its JSON form: names in lowerCamelCase, 64-bit integers
  as text, enums as numbers. Each process is a resource; counts are sums with delta temporality,
  which is just what publishers tell, so nothing has to be kept here.
*/

/** AGGREGATION_TEMPORALITY_DELTA and _CUMULATIVE. */
const DELTA = 1;
const CUMULATIVE = 2;
const NS_PER_MS = 1_000_000n;

export interface OtlpResource {
  readonly topology: string;
  readonly topologyId: string;
  readonly cluster: string;
  readonly role: string;
  readonly environ: string;
  readonly container: string;
  readonly engineVersion: string;
  /** What a count covers; publishers do not say since when. */
  readonly intervalMs: number;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string };
}

export function otlpMessage(records: readonly MetricsRecord[], resource: OtlpResource): string {
  return JSON.stringify({
    resourceMetrics: records.map((record) => ({
      resource: { attributes: resourceAttributes(record, resource) },
      scopeMetrics: [
        {
          scope: { name: 'heron', version: resource.engineVersion },
          metrics: metricsOf(record, resource.intervalMs),
        },
      ],
    })),
  });
}

/** An ExportTraceServiceRequest; spans have come in its form already. */
export function otlpTraces(records: readonly MetricsRecord[], resource: OtlpResource): string {
  const resourceSpans = records.map((record) => {
    const attributes = JSON.stringify(resourceAttributes(record, resource));
    const scope = JSON.stringify({ name: 'heron', version: resource.engineVersion });
    const spans = (record.spans ?? []).join(',');
    const scopeSpans = `[{"scope":${scope},"spans":[${spans}]}]`;
    return `{"resource":{"attributes":${attributes}},"scopeSpans":${scopeSpans}}`;
  });
  return `{"resourceSpans":[${resourceSpans.join(',')}]}`;
}

function resourceAttributes({ source }: MetricsRecord, resource: OtlpResource): Attribute[] {
  return Object.entries({
    'service.namespace': resource.topology,
    'service.name': source.component,
    'service.instance.id': `${resource.topologyId}/${source.instance}`,
    'host.name': source.hostname,
    'heron.topology': resource.topology,
    'heron.cluster': resource.cluster,
    'heron.role': resource.role,
    'heron.env': resource.environ,
    'heron.container': resource.container,
    'heron.instance': source.instance,
  }).map(([key, value]) => attribute(key, value));
}

function metricsOf(record: MetricsRecord, intervalMs: number): unknown[] {
  const { atMs, source } = record;
  const metrics: unknown[] = [];
  for (const metric of [...record.metrics, ...thrown(record)]) {
    const value = Number(metric.value);
    if (metric.value === '' || !Number.isFinite(value)) continue;
    const { name, labels, factor, isTotal } = metricFactsOf(metric.name, source.component);
    const isCount = kindOf(metric) === 'count';
    const point = {
      attributes: labels.map(([key, text]) => attribute(key, text)),
      timeUnixNano: nanoseconds(atMs),
      asDouble: value * factor,
    };
    const told = { name: `heron.${name}`, unit: unitOf(name) };
    if (isCount) {
      const startTimeUnixNano = nanoseconds(atMs - intervalMs);
      const dataPoints = [{ ...point, startTimeUnixNano }];
      const sum = { dataPoints, aggregationTemporality: DELTA, isMonotonic: true };
      metrics.push({ ...told, sum });
    } else if (isTotal) {
      const sum = { dataPoints: [point], aggregationTemporality: CUMULATIVE, isMonotonic: true };
      metrics.push({ ...told, sum });
    } else metrics.push({ ...told, gauge: { dataPoints: [point] } });
  }
  return [...metrics, ...histogramsOf(record, intervalMs)];
}

function histogramsOf({ atMs, source, histograms = [] }: MetricsRecord, intervalMs: number) {
  return histograms.map(({ name, histogram }) => {
    const facts = metricFactsOf(name, source.component);
    const bounds = histogramBounds(facts);
    const upTo = [...bounds.map(({ raw }) => histogram.countUpTo(raw)), histogram.count];
    const point = {
      attributes: facts.labels.map(([key, text]) => attribute(key, text)),
      startTimeUnixNano: nanoseconds(atMs - intervalMs),
      timeUnixNano: nanoseconds(atMs),
      count: String(histogram.count),
      sum: histogram.sum * facts.factor,
      max: histogram.max * facts.factor,
      explicitBounds: bounds.map(({ bound }) => bound),
      bucketCounts: upTo.map((count, index) => String(count - (upTo[index - 1] ?? 0))),
    };
    return {
      name: `heron.${histogramName(facts)}`,
      unit: unitOf(facts.name),
      histogram: { dataPoints: [point], aggregationTemporality: DELTA },
    };
  });
}

/** Exceptions as a count; their texts are for logs. */
function thrown({ exceptions }: MetricsRecord): Metric[] {
  if (exceptions.length === 0) return [];
  const total = exceptions.reduce((sum, { count }) => sum + count, 0);
  return [{ name: '__exceptions', value: String(total), kind: 'count' }];
}

/** UCUM, as OTLP asks for. */
function unitOf(name: string): string {
  if (name.endsWith('_seconds')) return 's';
  return name.endsWith('_bytes') ? 'By' : '1';
}

function attribute(key: string, stringValue: string): Attribute {
  return { key, value: { stringValue } };
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms)) * NS_PER_MS);
}
