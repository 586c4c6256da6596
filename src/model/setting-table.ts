import { LOG_LEVELS } from '../base/logger.ts';
import { METRICS_SETTINGS } from './metrics-settings.ts';
import {
  buffer,
  cores,
  count,
  GIB,
  KIB,
  live,
  LONGEST_TIMER_MS,
  megabytes,
  memory,
  MIB,
  milliseconds,
  note,
  optional,
  setting,
  type Setting,
  silence,
} from './setting.ts';
import { STATE_SETTINGS } from './state-settings.ts';
import {
  addresses,
  boolean,
  nonEmptyText,
  number,
  oneOf,
  perComponent,
  wholeNumber,
} from './setting-types.ts';

/*
  Every setting that the engine reads: its type, its default, its unit and what it does. The
  `topology.` ones are Heron's where Heron has them, under Heron's names; the `heron.` ones tune
  the processes and may be set in a topology's config too.
*/

export type { Setting, SettingUnit } from './setting.ts';

export const SETTINGS = {
  'topology.name': optional(nonEmptyText, undefined, 'Name of the topology; set by submit.'),
  'topology.project.name': note('The project that the topology belongs to.'),
  'topology.team.name': note('Who answers for the topology.'),
  'topology.team.email': note('Where to write to about the topology.'),
  'topology.team.environment': note('What the topology runs for, such as production.'),
  'topology.stmgrs': setting(
    wholeNumber({ min: 1, max: 100_000 }),
    1,
    'count',
    'Worker containers, not counting the one of the topology master.',
  ),
  'topology.component.parallelism': setting(
    wholeNumber({ min: 1, max: 100_000 }),
    1,
    'count',
    'Tasks of a component that says nothing else.',
  ),
  'topology.log.level': live(
    setting(
      oneOf(...LOG_LEVELS),
      'info',
      undefined,
      'Lines of the log below it are not written; of the whole topology or of a component.',
    ),
  ),
  'topology.debug': setting(boolean, false, undefined, 'Logs every emitted tuple.'),
  'topology.message.timeout.secs': setting(
    wholeNumber({ min: 1, max: Math.floor(LONGEST_TIMER_MS / 1000) }),
    30,
    's',
    'With acks, the time for a tuple tree to be acked before it fails; it stands still while its ' +
      'spout is held by back pressure.',
  ),
  'topology.enable.message.timeouts': setting(
    boolean,
    true,
    undefined,
    'With acks, whether tuple trees fail after the time-out; if not, each is kept until settled.',
  ),
  'topology.max.spout.pending': live(
    count(
      100,
      'With acks, the tuple trees that a spout task may have under way; without, nothing.',
    ),
  ),
  'topology.reliability.mode': setting(
    oneOf('ATMOST_ONCE', 'ATLEAST_ONCE'),
    'ATMOST_ONCE',
    undefined,
    'What is promised for each tuple: see reliability.md.',
  ),
  'topology.retry.limit': setting(
    wholeNumber({ min: 0, max: 1_000_000 }),
    5,
    'count',
    'With acks, how often a replayable spout emits a failed tuple again; then it is a dead letter.',
  ),
  'topology.retry.backoff.ms': milliseconds(
    100,
    'Pause before the first retry of a failed tuple; each further one is twice as long.',
  ),
  'topology.retry.backoff.max.ms': milliseconds(10_000, 'Longest pause before a retry.'),
  'topology.dead.letters': setting(
    oneOf('file', 'none'),
    'file',
    undefined,
    'Where a tuple goes whose retries are used up; with none it is only counted and logged.',
  ),
  'topology.dead.letters.file.bytes': setting(
    wholeNumber({ min: 64 * KIB, max: GIB }),
    64 * MIB,
    'bytes',
    'Size of the dead letters that a task keeps; the oldest make room.',
  ),
  'topology.update.drain.secs': setting(
    wholeNumber({ min: 1, max: Math.floor(LONGEST_TIMER_MS / 1000) }),
    60,
    's',
    'Time that tasks which an update takes away get to work off their input; then it is lost.',
  ),
  'topology.backpressure.scope': setting(
    oneOf('upstream', 'all'),
    'upstream',
    undefined,
    'Which spouts stop when a component is behind: those whose tuples reach it, or all.',
  ),
  'topology.droptuples.upon.backpressure': setting(
    boolean,
    false,
    undefined,
    'Drops tuples for a component that is behind, and fails them, instead of stopping spouts.',
  ),
  'topology.tick.tuple.freq.ms': optional(
    wholeNumber({ min: 1, max: LONGEST_TIMER_MS }),
    'ms',
    'How often a bolt receives a tick; without it, never.',
  ),
  'topology.bolt.concurrency': setting(
    wholeNumber({ min: 1, max: 100_000 }),
    1,
    'count',
    'Promises of execute that a bolt may have pending at once in each task.',
  ),
  'topology.bolt.order': setting(
    oneOf('key', 'none'),
    'key',
    undefined,
    'What a concurrent bolt executes one by one: tuples of equal grouping fields, or none.',
  ),
  'topology.key.groups': setting(
    wholeNumber({ min: 1, max: 65_536 }),
    1024,
    'count',
    'Groups of keys that move as one; the largest parallelism of a bolt with a fields grouping.',
  ),
  'topology.isolation': setting(
    oneOf('process'),
    'process',
    undefined,
    'What separates the instances of a container from each other.',
  ),
  'topology.container.cpu': optional(cores, 'cores', 'CPU of each container.'),
  'topology.container.ram': optional(memory, 'bytes', 'Memory of each container.'),
  'topology.container.disk': optional(memory, 'bytes', 'Disk of each container.'),
  'topology.container.cpu.padding': setting(
    cores,
    1,
    'cores',
    "CPU in each container for the engine's own processes.",
  ),
  'topology.container.ram.padding': optional(
    memory,
    'bytes',
    "Memory in each container for the engine's own processes; else their sum, or 1 GiB at least.",
  ),
  'topology.container.padding.percentage': setting(
    wholeNumber({ min: 0, max: 99 }),
    10,
    undefined,
    'Share of a container, in percent, that is padding at least, where packing heeds limits.',
  ),
  'topology.container.max.instances': setting(
    wholeNumber({ min: 1, max: 100_000 }),
    10,
    'count',
    'Tasks in a container at most when packed first-fit; sizes a container that has no limit.',
  ),
  'topology.packing.ffd.sorting.strategy': setting(
    oneOf('RAM_FIRST', 'CPU_FIRST'),
    'RAM_FIRST',
    undefined,
    'What makes a component large, and so early, when packed first-fit decreasing.',
  ),
  'topology.component.cpumap': optional(
    perComponent(cores),
    'cores',
    'CPU of each task of the named components.',
  ),
  'topology.component.rammap': optional(
    perComponent(memory),
    'bytes',
    'Memory of each task of the named components.',
  ),
  'topology.component.diskmap': optional(
    perComponent(memory),
    'bytes',
    'Disk of each task of the named components.',
  ),
  'topology.stmgr.ram': setting(memory, GIB, 'bytes', 'Memory of a stream manager.'),
  'topology.metricsmgr.ram': setting(memory, GIB, 'bytes', 'Memory of a metrics manager.'),

  'heron.packing.algorithm': setting(
    oneOf('round-robin', 'resource-compliant-round-robin', 'first-fit-decreasing'),
    'round-robin',
    undefined,
    'How tasks are dealt to containers.',
  ),
  'heron.update.factor.max': setting(
    number({ min: 1 }),
    4,
    undefined,
    'Factor up or down by which `heron update` changes a number of tasks or containers unforced.',
  ),
  'heron.streammgr.network.options.maximum.packet.mb': megabytes(
    10,
    'Largest packet that a stream manager takes.',
  ),
  'heron.tmanager.network.server.options.maximum.packet.mb': megabytes(
    16,
    'Largest packet that the topology master takes.',
  ),
  'heron.metricsmgr.network.options.maximum.packetsize.bytes': buffer(
    MIB,
    'Largest packet that a metrics manager takes.',
  ),
  'heron.instance.set.data.tuple.size.bytes': buffer(
    8 * MIB,
    'Largest tuple, all of its values together; must fit into a packet of the stream manager.',
  ),
  'heron.instance.queue.bytes': buffer(
    2 * MIB,
    'Each of the two rings for data between user code and the gateway.',
  ),
  'heron.streammgr.credit.bytes': buffer(
    512 * KIB,
    'What a stream manager may have under way to one task before that task has taken it.',
  ),
  'heron.instance.credit.bytes': buffer(
    MIB,
    'What an instance may have sent to its stream manager before that has passed it on.',
  ),
  'heron.streammgr.backpressure.high.bytes': buffer(
    512 * KIB,
    'Bytes that wait for one task when back pressure begins; at most half of ' +
      'heron.instance.credit.bytes unless set, and never above it.',
  ),
  'heron.streammgr.backpressure.low.bytes': buffer(
    128 * KIB,
    'Bytes that wait for one task when back pressure ends; at most a quarter of ' +
      'heron.streammgr.backpressure.high.bytes unless set.',
  ),
  'heron.streammgr.backpressure.age.ms': milliseconds(
    5000,
    'Age of the oldest tuples that a task has not taken when back pressure begins.',
  ),
  'heron.streammgr.backpressure.lease.ms': setting(
    // It is renewed three times a lease, and no more than ten times a second.
    wholeNumber({ min: 300, max: LONGEST_TIMER_MS }),
    3000,
    'ms',
    'How long back pressure holds unless the stream manager that began it renews it.',
  ),
  'heron.streammgr.link.silence.ms': silence(
    // As the topology master judges stream managers; well below both the time-out of messages and
    // the silence after which executors kill, so that a link is given up before its tuples time
    // out and before the process at its end is thought hung.
    10_000,
    'Silence after which a link of a stream manager with another or with an instance is given ' +
      'up and dialled anew.',
  ),
  'heron.instance.reconnect.streammgr.interval.ms': milliseconds(
    200,
    'Pause before an instance dials its stream manager again.',
  ),
  'heron.instance.reconnect.metricsmgr.interval.ms': milliseconds(
    1000,
    'Pause before an instance dials its metrics manager again.',
  ),
  'heron.instance.blocked.task.ms': milliseconds(
    5000,
    'A call into user code that lasts longer is reported as blocked, with its stack.',
  ),
  'heron.instance.idle.backoff.max.ms': milliseconds(
    16,
    'Longest pause between two calls of nextTuple that emit nothing.',
  ),
  'heron.streammgr.client.reconnect.interval.ms': milliseconds(
    200,
    'Pause before a stream manager dials another one again.',
  ),
  'heron.streammgr.client.reconnect.tmanager.interval.ms': milliseconds(
    200,
    'Pause before a stream manager dials the topology master again.',
  ),
  'heron.streammgr.tmanager.heartbeat.interval.ms': milliseconds(
    2000,
    'How often a stream manager tells the topology master that it lives.',
  ),
  'heron.tmanager.stmgr.state.timeout.ms': milliseconds(
    10_000,
    'Silence after which the topology master takes a stream manager for dead.',
  ),
  'heron.check.tmanager.location.interval.ms': milliseconds(
    120_000,
    'How long a process waits for a topology master to appear.',
  ),
  ...METRICS_SETTINGS,
  ...STATE_SETTINGS,
  'heron.executor.restart.backoff.min.ms': milliseconds(
    100,
    'Pause before a dead process is started again for the first time.',
  ),
  'heron.executor.restart.backoff.max.ms': milliseconds(
    10_000,
    'Longest pause before a dead process is started again.',
  ),
  'heron.executor.restart.attempts.max': count(
    150,
    'Starts in a row after which a process that keeps dying is given up.',
  ),
  'heron.executor.child.silence.ms': silence(
    30_000,
    'Silence after which an executor takes one of its processes for hung, kills it and starts it ' +
      'again; one that starts has four times as long.',
  ),
  'heron.scheduler.executor.silence.ms': silence(
    60_000,
    'Silence after which the scheduler takes an executor for hung, kills it and starts it again; ' +
      'one that starts has four times as long.',
  ),
  'heron.shutdown.grace.ms': milliseconds(
    5000,
    'Time that a process gets to end by itself before it is killed.',
  ),
  'heron.logging.maximum.size.mb': megabytes(10, 'Size at which a log file is rotated.'),
  'heron.logging.maximum.files': count(5, 'Log files kept for each process.'),
  'heron.scheduler.local.hosts': setting(
    addresses,
    '127.0.0.1',
    undefined,
    'Own addresses that the local scheduler gives to the containers in turn.',
  ),
  'heron.completed.retention.hours': setting(
    wholeNumber({ min: 0, max: 87_600 }),
    168,
    'h',
    'How long the record of a completed topology is kept.',
  ),
} as const satisfies Record<string, Setting<unknown>>;
