import { boolean, httpUrl, nonEmptyText, oneOf, share, someOf } from './setting-types.ts';
import { milliseconds, port, type Setting, setting } from './setting.ts';

/** The settings of metrics: how often, where to, and which processes keep them. */
export const METRICS_SETTINGS = {
  'heron.metrics.export.interval.ms': milliseconds(60_000, 'How often metrics are published.'),
  'topology.metrics.histograms': setting(
    boolean,
    true,
    undefined,
    'Whether percentiles of latencies and queue waits are measured, and not only means.',
  ),
  'topology.trace.sample.ratio': setting(
    share,
    0,
    undefined,
    'The part of what spouts emit whose way is traced: 0.01 is one in a hundred, 0 none.',
  ),
  'heron.metricsmgr.otlp.traces.endpoint': setting(
    httpUrl,
    'http://127.0.0.1:4318/v1/traces',
    undefined,
    'Where a collector of OpenTelemetry takes traces.',
  ),
  'heron.metricsmgr.sinks': setting(
    someOf('file', 'tmanager', 'metricscache', 'prometheus', 'web', 'graphite', 'otlp'),
    ['file', 'tmanager', 'metricscache', 'prometheus'],
    undefined,
    'Where metrics go.',
  ),
  'heron.metricsmgr.http.port': setting(
    port,
    0,
    undefined,
    'Port of the pages for Prometheus and web in container 0, one more in each next; 0: free ones.',
  ),
  'heron.metricsmgr.graphite.host': setting(
    nonEmptyText,
    '127.0.0.1',
    undefined,
    'Where Graphite listens.',
  ),
  'heron.metricsmgr.graphite.port': setting(port, 2003, undefined, "Graphite's plaintext port."),
  'heron.metricsmgr.graphite.prefix': setting(
    nonEmptyText,
    'heron',
    undefined,
    'How paths in Graphite begin.',
  ),
  'heron.metricsmgr.otlp.endpoint': setting(
    httpUrl,
    'http://127.0.0.1:4318/v1/metrics',
    undefined,
    'Where a collector of OpenTelemetry takes metrics.',
  ),
  'heron.topology.metricscachemgr.mode': setting(
    oneOf('cluster', 'disabled'),
    'cluster',
    undefined,
    'Whether container 0 has a metrics cache.',
  ),
} as const satisfies Record<string, Setting<unknown>>;
