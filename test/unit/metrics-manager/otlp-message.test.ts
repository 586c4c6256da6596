import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram } from '../../../src/metrics/histogram.ts';
import { otlpMessage, otlpTraces } from '../../../src/metrics-manager/otlp-message.ts';
import { AN_EXCEPTION, aMetricsRecord } from '../../support/metrics-records.ts';

const RESOURCE = {
  topology: 'words',
  topologyId: 'words-1',
  cluster: 'local',
  role: 'ada',
  environ: 'test',
  container: '1',
  engineVersion: '1.2.3',
  intervalMs: 60_000,
};

/** As the JSON form of OTLP's protobuf messages has it. */
test('a publication is a resource with its metrics', () => {
  const record = aMetricsRecord({
    metrics: [
      { name: '__emit-count/default', value: '3', kind: 'count' },
      { name: '__execute-latency/split/default', value: '2000000', kind: 'mean' },
      { name: '__process/__cpu_user_usec', value: '5000000', kind: 'value' },
      { name: 'broken', value: 'many', kind: 'value' },
    ],
    exceptions: [AN_EXCEPTION],
  });
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const timeUnixNano = '1700000000000000000';
  const startTimeUnixNano = '1699999940000000000';
  const counted = { aggregationTemporality: 1, isMonotonic: true };
  assert.deepEqual(JSON.parse(otlpMessage([record], RESOURCE)), {
    resourceMetrics: [
      {
        resource: {
          attributes: [
            text('service.namespace', 'words'),
            text('service.name', 'word'),
            text('service.instance.id', 'words-1/container_1_word_1'),
            text('host.name', 'host-1'),
            text('heron.topology', 'words'),
            text('heron.cluster', 'local'),
            text('heron.role', 'ada'),
            text('heron.env', 'test'),
            text('heron.container', '1'),
            text('heron.instance', 'container_1_word_1'),
          ],
        },
        scopeMetrics: [
          {
            scope: { name: 'heron', version: '1.2.3' },
            metrics: [
              {
                name: 'heron.emit_count',
                unit: '1',
                sum: {
                  dataPoints: [
                    {
                      attributes: [text('stream', 'default')],
                      startTimeUnixNano,
                      timeUnixNano,
                      asDouble: 3,
                    },
                  ],
                  ...counted,
                },
              },
              {
                name: 'heron.execute_latency_seconds',
                unit: 's',
                gauge: {
                  dataPoints: [
                    {
                      attributes: [text('source_component', 'split'), text('stream', 'default')],
                      timeUnixNano,
                      asDouble: 0.002,
                    },
                  ],
                },
              },
              {
                name: 'heron.process_cpu_user_seconds',
                unit: 's',
                sum: {
                  dataPoints: [{ attributes: [], timeUnixNano, asDouble: 5 }],
                  aggregationTemporality: 2,
                  isMonotonic: true,
                },
              },
              {
                name: 'heron.exceptions',
                unit: '1',
                sum: {
                  dataPoints: [{ attributes: [], startTimeUnixNano, timeUnixNano, asDouble: 2 }],
                  ...counted,
                },
              },
            ],
          },
        ],
      },
    ],
  });
});

test('a histogram has explicit bounds, and its counts are what is new', () => {
  const histogram = new Histogram();
  for (const milliseconds of [3, 3, 700, 1e6]) histogram.record(milliseconds * 1e6);
  const histograms = [{ name: '__complete-latency/default', histogram }];
  const text = otlpMessage([aMetricsRecord({ metrics: [], histograms })], RESOURCE);
  interface Point {
    readonly count: string;
    readonly sum: number;
    readonly bucketCounts: readonly string[];
    readonly explicitBounds: readonly number[];
  }
  interface Message {
    readonly resourceMetrics: readonly {
      readonly scopeMetrics: readonly {
        readonly metrics: readonly {
          readonly name: string;
          readonly histogram: { readonly dataPoints: readonly Point[] };
        }[];
      }[];
    }[];
  }
  const [metric] = (JSON.parse(text) as Message).resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? [];
  assert.equal(metric?.name, 'heron.complete_latency_histogram_seconds');
  const [point] = metric.histogram.dataPoints;
  assert.equal(point?.count, '4');
  assert.equal(point.sum, 1000.706);
  assert.equal(point.bucketCounts.length, point.explicitBounds.length + 1);
  const filled = point.bucketCounts.flatMap((count, index) =>
    count === '0' ? [] : [[point.explicitBounds[index], count]],
  );
  assert.deepEqual(filled, [
    [0.005, '2'],
    [1, '1'],
    [undefined, '1'],
  ]);
});

test('spans are put under the resource of the process that sent them, as they came', () => {
  const record = aMetricsRecord({ metrics: [], spans: ['{"name":"a"}', '{"name":"b"}'] });
  const { resourceSpans } = JSON.parse(otlpTraces([record, record], RESOURCE)) as {
    resourceSpans: { resource: { attributes: object[] }; scopeSpans: object[] }[];
  };
  assert.equal(resourceSpans.length, 2);
  for (const { resource, scopeSpans } of resourceSpans) {
    assert.equal(resource.attributes.length, 10);
    assert.deepEqual(scopeSpans, [
      { scope: { name: 'heron', version: '1.2.3' }, spans: [{ name: 'a' }, { name: 'b' }] },
    ]);
  }
});
