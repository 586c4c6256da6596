import type { Random } from '../../base/random.ts';

/*
  Settings of a simulated run: mostly those that people leave alone, now and then the smallest that
  are allowed or much larger ones. What is small makes queues run full and windows close; short
  periods make rare things happen often.
*/

const KIB = 1024;
const MIB = 1024 * KIB;

interface Variation {
  readonly setting: string;
  readonly values: readonly number[];
}

const VARIATIONS: readonly Variation[] = [
  { setting: 'heron.instance.queue.bytes', values: [64 * KIB, 128 * KIB, 256 * KIB, 4 * MIB] },
  { setting: 'heron.streammgr.credit.bytes', values: [64 * KIB, 80_000, 2 * MIB] },
  { setting: 'heron.instance.credit.bytes', values: [64 * KIB, 100_000, 4 * MIB] },
  { setting: 'heron.streammgr.tmanager.heartbeat.interval.ms', values: [200, 1_000, 5_000] },
  { setting: 'heron.tmanager.stmgr.state.timeout.ms', values: [6_000, 20_000] },
  { setting: 'heron.streammgr.client.reconnect.interval.ms', values: [10, 1_000] },
  { setting: 'heron.streammgr.client.reconnect.tmanager.interval.ms', values: [10, 1_000] },
  { setting: 'heron.instance.reconnect.streammgr.interval.ms', values: [10, 1_000] },
  { setting: 'heron.instance.reconnect.metricsmgr.interval.ms', values: [50, 5_000] },
  { setting: 'heron.instance.idle.backoff.max.ms', values: [1, 100] },
  { setting: 'heron.instance.blocked.task.ms', values: [100] },
  { setting: 'heron.metrics.export.interval.ms', values: [500, 5_000] },
  { setting: 'heron.executor.restart.backoff.min.ms', values: [10, 1_000] },
  { setting: 'heron.executor.restart.backoff.max.ms', values: [1_000, 3_000] },
  { setting: 'heron.shutdown.grace.ms', values: [500, 2_000] },
  { setting: 'topology.key.groups', values: [16, 128, 4_096] },
];

/** In so many settings of a hundred the default is replaced, where anything is varied at all. */
const VARIED_PERCENT = 30;

export function varySettings(random: Random): Readonly<Record<string, string>> {
  if (random.below(3) === 0) return {};
  const settings: Record<string, string> = {};
  for (const { setting, values } of VARIATIONS) {
    if (random.below(100) >= VARIED_PERCENT) continue;
    settings[setting] = String(values[random.below(values.length)]);
  }
  return settings;
}
