import type { Interposer } from '../../../src/simulation/machine/interposer.ts';
import { RoutedStream, StreamRouter } from '../../../src/routing/stream-router.ts';
import { Destinations } from '../../../src/routing/destinations.ts';
import { KeyGroupGrouping } from '../../../src/routing/key-group-grouping.ts';
import { ShuffleGrouping } from '../../../src/routing/shuffle-grouping.ts';
import type { RoutableTuple } from '../../../src/routing/consumer-grouping.ts';
import { SendWindow } from '../../../src/stream-manager/credits.ts';
import type { StreamHeader } from '../../../src/wire/stream-header.ts';
import {
  carriesGrant,
  carriesMarker,
  carriesTuples,
  tupleSetOf,
  withTupleSet,
} from './data-packets.ts';
import { type Defect, replaced, RUN_ENDS } from './defect.ts';
import { type LoosePacket, tampered, type Tampering } from './tampered-network.ts';

/* What can go wrong on the way of a tuple. */

const STREAM_MANAGERS = /^stmgr-/;
const INSTANCES = /^container_/;

/** Puts a tampering of what is sent between the stream managers. */
function sending(onSend: () => Required<Pick<Tampering, 'onSend'>>['onSend']): () => Interposer {
  return () => tampered(STREAM_MANAGERS, () => ({ onSend: onSend() }));
}

/** The same between an instance and its stream manager. */
function instanceSending(
  onSend: () => Required<Pick<Tampering, 'onSend'>>['onSend'],
): () => Interposer {
  return () => tampered(INSTANCES, () => ({ onSend: onSend() }));
}

/** Far above the time that a set takes, below any period. */
const LATE_MS = 40;
/** More than a grant may take, and less than faults would excuse. */
const GRANT_LATE_MS = 1_500;

export const DATA_DEFECTS: readonly Defect[] = [
  {
    name: 'an end marker overtakes the data',
    foundBy: 'nothing lost without a cause',
    seeds: [1, 2],
    interposer: sending(() => (packet, connection) => {
      if (!carriesTuples(packet)) return 'as it is';
      connection.after(LATE_MS, () => connection.send(packet));
      return [];
    }),
  },
  {
    name: 'an end marker is lost on a reconnect',
    foundBy: RUN_ENDS,
    seeds: [18, 25],
    interposer: sending(
      () => (packet, connection) =>
        connection.isRedial && carriesMarker(packet) ? [] : 'as it is',
    ),
  },
  {
    name: 'credit is lost on a reconnect',
    foundBy: RUN_ENDS,
    seeds: [195, 74],
    interposer: () => {
      const judge: Tampering['onSend'] = (packet, { isRedial }) =>
        isRedial && carriesGrant(packet) ? [] : 'as it is';
      return tampered(STREAM_MANAGERS, () => ({ onSend: judge, onReceive: judge }));
    },
  },
  {
    name: 'credit is given twice',
    foundBy: 'credit comes back',
    seeds: [3, 5],
    interposer: sending(() => (packet) => (carriesGrant(packet) ? [packet, packet] : 'as it is')),
  },
  {
    name: 'credit is held back',
    foundBy: 'credit comes back',
    seeds: [3, 1],
    interposer: sending(() => (packet, connection) => {
      if (!carriesGrant(packet)) return 'as it is';
      connection.after(GRANT_LATE_MS, () => connection.send(packet));
      return [];
    }),
  },
  {
    name: 'a batch is sent again after a reconnect',
    foundBy: 'at most once',
    seeds: [74, 39],
    interposer: sending(() => {
      let last: LoosePacket | undefined;
      return (packet, { isRedial }) => {
        if (!carriesTuples(packet)) return 'as it is';
        const again = isRedial ? last : undefined;
        last = isRedial ? undefined : packet;
        return again === undefined ? 'as it is' : [again, packet];
      };
    }),
  },
  {
    name: 'two batches change places',
    foundBy: 'order per pair of tasks',
    seeds: [1, 2],
    interposer: instanceSending(() => {
      let held: LoosePacket | undefined;
      return (packet, connection) => {
        const set = tupleSetOf(packet);
        if (set === undefined || (set.data === undefined && !set.endOfInput)) {
          return 'as it is';
        }
        const before = held;
        held = undefined;
        if (before !== undefined) {
          return set.data === undefined ? [before, packet] : [packet, before];
        }
        if (set.data === undefined) return 'as it is';
        held = packet;
        connection.after(LATE_MS, () => {
          if (held === packet) connection.send(packet);
          if (held === packet) held = undefined;
        });
        return [];
      };
    }),
  },
  {
    name: 'a set is taken for one of another stream',
    foundBy: 'tuples arrive unchanged',
    seeds: [1, 2],
    interposer: instanceSending(() => {
      const seen = new Set<string>();
      return (packet) => {
        const set = tupleSetOf(packet);
        if (set?.data?.stream === undefined) return 'as it is';
        const { stream } = set.data;
        seen.add(stream.id);
        const other = [...seen].find((id) => id !== stream.id);
        if (other === undefined) return 'as it is';
        stream.id = other;
        return [withTupleSet(packet, set)];
      };
    }),
  },
  {
    name: 'a large tuple is cut off',
    foundBy: 'tuples arrive unchanged',
    seeds: [4, 1],
    interposer: instanceSending(() => (packet) => {
      const set = tupleSetOf(packet);
      if (set?.data === undefined) return 'as it is';
      for (const tuple of set.data.tuples) tuple.values = tuple.values.map(withoutEnd);
      return [withTupleSet(packet, set)];
    }),
  },
  {
    name: 'a task does not say what it has consumed',
    foundBy: RUN_ENDS,
    seeds: [1, 12],
    interposer: instanceSending(
      () => (packet) => ((tupleSetOf(packet)?.consumedBytes ?? 0n) > 0n ? [] : 'as it is'),
    ),
  },
  {
    name: 'a doorbell loses rings',
    foundBy: RUN_ENDS,
    seeds: [1, 3],
    interposer: () => ({
      portsOf: (ports, { name }) => (INSTANCES.test(name) ? withDeafBells(ports) : ports),
    }),
  },
  {
    name: 'an all grouping leaves a task out',
    foundBy: 'nothing lost without a cause',
    seeds: [23, 35],
    replace: () => {
      const lame = new WeakMap<RoutedStream, RoutedStream>();
      return replaced(StreamRouter.prototype, 'streamOf', ({ value: streamOf }) => ({
        value(this: StreamRouter, header: StreamHeader) {
          const stream: RoutedStream | undefined = streamOf.call(this, header);
          if (stream?.fixedTasks === undefined || stream.fixedTasks.length < 2) return stream;
          const known = lame.get(stream) ?? withoutFirst(stream.fixedTasks);
          lame.set(stream, known);
          return known;
        },
      }));
    },
  },
  {
    name: 'a shuffle skips a task',
    foundBy: 'shuffles are even',
    seeds: [9, 10],
    replace: () => {
      const skipped = new WeakMap<ShuffleGrouping, number>();
      return replaced(ShuffleGrouping.prototype, 'addDestinations', ({ value: add }) => ({
        value(this: ShuffleGrouping, tuple: unknown, into: Destinations) {
          const chosen = new Destinations();
          add.call(this, tuple, chosen);
          const first = skipped.get(this) ?? chosen.tasks[0] ?? 0;
          skipped.set(this, first);
          if (chosen.tasks[0] === first) add.call(this, tuple, into);
          else into.add(chosen.tasks[0] ?? 0);
        },
      }));
    },
  },
  {
    name: 'the hash of keys differs from process to process',
    foundBy: 'same key, same task',
    seeds: [1, 2],
    replace: saltedKeys,
  },
  {
    name: 'a key goes to another task after a restart',
    foundBy: 'same key, same task',
    // One container, whose stream manager is started again.
    seeds: [119, 88],
    replace: saltedKeys,
  },
  {
    name: 'a queue without bound',
    foundBy: 'queues and memory are bounded',
    seeds: [12, 17],
    replace: () => replaced(SendWindow.prototype, 'isOpen', () => ({ get: () => true })),
  },
];

/** The hash depends on the key and on the process. */
function saltedKeys(): () => void {
  const salts = new WeakMap<KeyGroupGrouping, number>();
  let made = 0;
  return replaced(KeyGroupGrouping.prototype, 'addDestinations', ({ value: add }) => ({
    value(this: KeyGroupGrouping, tuple: RoutableTuple, into: Destinations) {
      const salt = salts.get(this) ?? made++;
      salts.set(this, salt);
      add.call(this, salted(tuple, salt), into);
    },
  }));
}

/** Bytes of more than 32 KiB lose their last one. */
function withoutEnd(value: Uint8Array): Uint8Array {
  const isLong = value.length > 32 * 1024;
  if (!isLong || (value[0] !== 0xc5 && value[0] !== 0xc6)) return value;
  const cut = Buffer.from(value.subarray(0, -1));
  if (value[0] === 0xc5) cut.writeUInt16BE(cut.length - 3, 1);
  else cut.writeUInt32BE(cut.length - 5, 1);
  return cut;
}

function withoutFirst(tasks: NonNullable<RoutedStream['fixedTasks']>): RoutedStream {
  const stream = new RoutedStream([], new Set());
  return Object.defineProperty(stream, 'fixedTasks', { value: tasks.slice(1) });
}

/** The same tuple with other keys, which depend on the salt. */
function salted(tuple: RoutableTuple, salt: number): RoutableTuple {
  const keys = Array.from({ length: tuple.valueCount }, (_, index) => {
    const value = tuple.bytes.subarray(tuple.valueStart(index), tuple.valueEnd(index));
    const text = `${salt} ${Buffer.from(value.subarray(0, 50)).toString('hex')}`;
    return Buffer.concat([Buffer.of(0xd9, text.length), Buffer.from(text)]);
  });
  const starts = keys.map((_, index) =>
    keys.slice(0, index).reduce((sum, { length }) => sum + length, 0),
  );
  return {
    bytes: Buffer.concat(keys),
    valueCount: tuple.valueCount,
    valueStart: (index) => starts[index] ?? 0,
    valueEnd: (index) => (starts[index] ?? 0) + (keys[index]?.length ?? 0),
    destinationCount: 0,
    destination: () => 0,
  };
}

type Ports = Parameters<NonNullable<Interposer['portsOf']>>[0];

/** After some time no ring is heard any more. */
function withDeafBells(ports: Ports): Ports {
  let rings = 0;
  return {
    ...ports,
    doorbells: (memory) => {
      const bell = ports.doorbells(memory);
      return {
        memory: bell.memory,
        ring: () => {
          rings += 1;
          if (rings % 3 !== 0) bell.ring();
        },
        sequence: () => bell.sequence(),
        wait: (seen) => bell.wait(seen),
        waitBlocking: (seen, maxMs) => bell.waitBlocking(seen, maxMs),
      };
    },
  };
}
