/*
  Heron's own settings that are none of ours (features of Heron 0.20.5), so that whoever comes with
  a configuration of Heron hears what becomes of each.

  H1. One that asks for what this engine does not have is refused: it would be believed to hold.
  H2. One that has nothing to act upon here, or is spelt otherwise, is passed over with a warning.
  H3. Heron's own default of a setting of H1 asks for nothing; its clients write some of them.
*/

export interface HeronSetting {
  /** `missing` is refused (H1), the others are warned of (H2). */
  readonly fate: 'missing' | 'moved' | 'meaningless';
  /** Completes the sentence "<key> of Heron …". */
  readonly explanation: string;
  /** The text that asks for nothing (H3). */
  readonly harmless?: string;
}

const missing = (feature: string, harmless?: string): HeronSetting => ({
  fate: 'missing',
  explanation: `is about ${feature}, which this engine does not have; remove it`,
  ...(harmless !== undefined && { harmless }),
});

const moved = (to: string): HeronSetting => ({ fate: 'moved', explanation: `is ${to} here` });

const meaningless = (reason: string): HeronSetting => ({
  fate: 'meaningless',
  explanation: `has no meaning here: ${reason}`,
});

const JVM = meaningless('there is no Java virtual machine');
const ADAPTIVE = meaningless('batches have no timer and no size of their own to set');
const WINDOWS = missing('window bolts');
const CHECKPOINTS = 'checkpoints of state';
const IN_BYTES = moved("'heron.instance.queue.bytes', one limit in bytes for each direction,");
const BUCKETS = meaningless('how exact time-outs are is fixed, see docs/reliability.md');
const OPERATING_SYSTEM = meaningless('socket buffers are left to the operating system');

/** By key; one that ends in `*` is for all keys that begin so. */
const HERON_SETTINGS: Readonly<Record<string, HeronSetting>> = {
  'topology.acking': {
    fate: 'missing',
    explanation: "is an old spelling; set 'topology.reliability.mode' to ATLEAST_ONCE instead",
    harmless: 'false',
  },
  'topology.additional.classpath': JVM,
  'topology.auto.task.hooks': meaningless('hooks are added in code'),
  'topology.bolts.window.*': WINDOWS,
  'topology.cap.ticket': meaningless('nothing reads it'),
  'topology.component.jvmopts': JVM,
  'topology.component.output.bps': missing('limits of output rates', '-1'),
  'topology.container.max.cpu.hint': moved("'topology.container.cpu'"),
  'topology.container.max.disk.hint': moved("'topology.container.disk'"),
  'topology.container.max.ram.hint': moved("'topology.container.ram'"),
  'topology.environment': missing('environment variables of instances'),
  'topology.fall.back.on.java.serialization': JVM,
  'topology.kryo.*': JVM,
  'topology.remote.debugging.enable': missing('debugger ports by setting', 'false'),
  'topology.serializer.classname': meaningless('a serializer is given in code'),
  'topology.skip.missing.kryo.registrations': JVM,
  'topology.stateful.checkpoint.interval.seconds': missing(CHECKPOINTS, '300'),
  'topology.stateful.checkpointmanager.ram': missing(CHECKPOINTS),
  'topology.stateful.spill.state': missing(CHECKPOINTS, 'false'),
  'topology.stateful.spill.state.location': missing(CHECKPOINTS, './spilled-state/'),
  'topology.stateful.start.clean': missing(CHECKPOINTS, 'false'),
  'topology.tick.tuple.freq.secs': moved("'topology.tick.tuple.freq.ms', in milliseconds,"),
  'topology.timer.events': meaningless('timers are set in code'),
  'topology.update.deactivate.wait.secs': meaningless('spouts go on during an update'),
  'topology.update.reactivate.wait.secs': meaningless('spouts go on during an update'),
  'topology.worker.childopts': JVM,

  'heron.check.tmanager.location.interval.sec': moved(
    "'heron.check.tmanager.location.interval.ms', in milliseconds,",
  ),
  'heron.instance.ack.batch.time.ms': ADAPTIVE,
  'heron.instance.acknowledgement.nbuckets': BUCKETS,
  'heron.instance.emit.batch.*': ADAPTIVE,
  'heron.instance.execute.batch.*': ADAPTIVE,
  'heron.instance.force.exit.timeout.ms': moved("'heron.shutdown.grace.ms'"),
  'heron.instance.internal.*': IN_BYTES,
  'heron.instance.metrics.system.sample.interval.sec': meaningless(
    'processes are measured when metrics are published',
  ),
  'heron.instance.network.options.maximum.packetsize.bytes': moved(
    "'heron.streammgr.network.options.maximum.packet.mb'",
  ),
  'heron.instance.network.options.socket.*': OPERATING_SYSTEM,
  'heron.instance.network.read.batch.*': ADAPTIVE,
  'heron.instance.network.write.batch.*': ADAPTIVE,
  'heron.instance.reconnect.metricsmgr.interval.sec': moved(
    "'heron.instance.reconnect.metricsmgr.interval.ms', in milliseconds,",
  ),
  'heron.instance.reconnect.metricsmgr.times': meaningless('an instance dials until it is ended'),
  'heron.instance.reconnect.streammgr.interval.sec': moved(
    "'heron.instance.reconnect.streammgr.interval.ms', in milliseconds,",
  ),
  'heron.instance.reconnect.streammgr.times': meaningless('an instance dials until it is ended'),
  'heron.instance.set.control.tuple.capacity': ADAPTIVE,
  'heron.instance.set.data.tuple.capacity': ADAPTIVE,
  'heron.instance.tuning.*': JVM,
  'heron.logging.directory': meaningless("logs are in a container's folder"),
  'heron.logging.err.threshold': meaningless('errors are written as they come'),
  'heron.logging.flush.interval.sec': meaningless('lines are written as they come'),
  'heron.logging.prune.interval.sec': meaningless('files are removed when they are rotated'),
  'heron.metrics.export.interval.sec': moved(
    "'heron.metrics.export.interval.ms', in milliseconds,",
  ),
  'heron.metrics.max.exceptions.per.message.count': meaningless('packets have a limit in bytes'),
  'heron.metricsmgr.network.options.socket.*': OPERATING_SYSTEM,
  'heron.metricsmgr.network.read.batch.*': ADAPTIVE,
  'heron.metricsmgr.network.write.batch.*': ADAPTIVE,
  'heron.statemgr.is.tunnel.needed': missing('tunnels to the state store', 'false'),
  'heron.statemgr.localfs.is.initialize.file.tree': meaningless('folders are made when needed'),
  'heron.statemgr.tunnel.*': meaningless('there are no tunnels to the state store'),
  'heron.statemgr.zookeeper.is.initialize.tree': meaningless('nodes are made when needed'),
  'heron.statemgr.zookeeper.retry.*': meaningless(
    "calls go on until 'heron.statemgr.zookeeper.connection.timeout.ms' is over",
  ),
  'heron.streammgr.cache.drain.*': ADAPTIVE,
  'heron.streammgr.client.reconnect.interval.sec': moved(
    "'heron.streammgr.client.reconnect.interval.ms', in milliseconds,",
  ),
  'heron.streammgr.client.reconnect.tmanager.interval.sec': moved(
    "'heron.streammgr.client.reconnect.tmanager.interval.ms', in milliseconds,",
  ),
  'heron.streammgr.client.reconnect.tmanager.max.attempts': meaningless(
    'a stream manager dials until it is ended',
  ),
  'heron.streammgr.connection.*': ADAPTIVE,
  'heron.streammgr.mempool.*': meaningless('there is no pool of messages'),
  'heron.streammgr.network.backpressure.*': moved(
    "'heron.streammgr.backpressure.high.bytes' with 'heron.streammgr.backpressure.low.bytes'",
  ),
  'heron.streammgr.stateful.buffer.size.mb': missing(CHECKPOINTS),
  'heron.streammgr.tmanager.heartbeat.interval.sec': moved(
    "'heron.streammgr.tmanager.heartbeat.interval.ms', in milliseconds,",
  ),
  'heron.streammgr.xormgr.rotatingmap.nbuckets': BUCKETS,
  'heron.tmanager.establish.*': moved("'heron.check.tmanager.location.interval.ms'"),
  'heron.tmanager.metrics.*': meaningless('what the topology master keeps has fixed limits'),
  'heron.tmanager.network.controller.*': meaningless('requests have a fixed limit'),
  'heron.tmanager.network.stats.*': meaningless('requests have a fixed limit'),
  'heron.tmanager.stmgr.state.timeout.sec': moved(
    "'heron.tmanager.stmgr.state.timeout.ms', in milliseconds,",
  ),
};

/** Keys as Heron writes them; the patterns of families end in `*`. */
export const HERON_SETTING_PATTERNS: readonly string[] = Object.keys(HERON_SETTINGS);

const FAMILIES = HERON_SETTING_PATTERNS.filter((pattern) => pattern.endsWith('*')).map(
  (pattern) => [pattern.slice(0, -1), HERON_SETTINGS[pattern]] as const,
);

/** What becomes of one of Heron's settings; undefined for any other key. */
export function heronSetting(key: string): HeronSetting | undefined {
  if (Object.hasOwn(HERON_SETTINGS, key)) return HERON_SETTINGS[key];
  return FAMILIES.find(([beginning]) => key.startsWith(beginning))?.[1];
}
