import { PendingMessages } from '../../../src/instance/task/pending-messages.ts';
import type { StreamManagerId, TaskId } from '../../../src/base/ids.ts';
import type { Interposer } from '../../../src/simulation/machine/interposer.ts';
import { AckPath } from '../../../src/stream-manager/ack-path.ts';
import { HoldBook } from '../../../src/stream-manager/hold-book.ts';
import { TreeLedger } from '../../../src/stream-manager/tree-ledger.ts';
import { NewInstanceAssignment, StopBackPressure } from '../../../src/wire/messages.ts';
import type { RootList } from '../../../src/wire/root-list.ts';
import { TUPLE_SET_2_TYPE } from '../../../src/wire/tuple-set-format.ts';
import { tupleSetOf } from './data-packets.ts';
import { type Defect, lying, replaced, RUN_ENDS } from './defect.ts';
import { tampered } from './tampered-network.ts';

/* What can go wrong with acks, time-outs and back pressure. All run at least once. */

const STREAM_MANAGERS = /^stmgr-/;
const INSTANCES = /^container_/;

/** So many acks are lost when a plan comes. */
const ACKS_LOST = 3;
/** Nine tenths of the time are those of nine rotations in place of ten. */
const ONE_ROTATION_LESS = 0.9;
/** Every so-many-th of what would be too much to lie about each time. */
const NOW_AND_THEN = 5;

type Settle = TreeLedger['settle'];
type Take = PendingMessages['take'];

const DEFECTS: readonly Omit<Defect, 'mode'>[] = [
  {
    name: 'acks are dropped on a plan change',
    foundBy: 'fails have a true reason',
    seeds: [8, 9],
    interposer: () =>
      tampered(INSTANCES, () => {
        let left = 0;
        return {
          onReceive: ({ typeName }) => {
            if (typeName === NewInstanceAssignment.typeName) left = ACKS_LOST;
            return 'as it is';
          },
          onSend: (packet) => {
            const acks = tupleSetOf(packet)?.control?.acks.length ?? 0;
            if (acks === 0 || left === 0) return 'as it is';
            left -= 1;
            return [];
          },
        };
      }),
  },
  {
    name: 'a stop of back pressure is lost',
    foundBy: 'back pressure ends',
    seeds: [1, 14],
    interposer: () =>
      tampered(STREAM_MANAGERS, () => ({
        onSend: ({ typeName }) => (typeName === StopBackPressure.typeName ? [] : 'as it is'),
      })),
  },
  {
    name: 'a time-out comes one rotation early',
    foundBy: 'time-outs keep their time',
    seeds: [6, 8],
    interposer: () => ({
      portsOf: (ports, { name }) =>
        STREAM_MANAGERS.test(name) ? { ...ports, clock: withHastyRotations(ports) } : ports,
    }),
  },
  {
    name: 'a key is folded into its tree twice',
    foundBy: 'fails have a true reason',
    seeds: [8, 9],
    replace: () => {
      let settled = 0;
      return replaced(TreeLedger.prototype, 'settle', ({ value: settle }) => ({
        value(this: TreeLedger, ...key: Parameters<Settle>): ReturnType<Settle> {
          const result: ReturnType<Settle> = settle.apply(this, key);
          settled += 1;
          if (result !== 'open' || settled % NOW_AND_THEN !== 0) return result;
          return settle.apply(this, key) as ReturnType<Settle>;
        },
      }));
    },
  },
  {
    name: 'a lease never ends',
    foundBy: 'back pressure ends',
    seeds: [61],
    replace: () =>
      replaced(HoldBook.prototype, 'start', ({ value: start }) => ({
        value(this: HoldBook, ...[from, slow]: Parameters<HoldBook['start']>) {
          start.call(this, from, slow, undefined);
        },
      })),
  },
  {
    name: 'of what a bolt has sent its tree is not told',
    foundBy: 'nothing is acked too early',
    seeds: [1, 4],
    replace: () =>
      replaced(AckPath.prototype, 'sent', ({ value: sent }) => ({
        value(this: AckPath, source: TaskId, roots: RootList, low: number, high: number) {
          if (roots.count > 0 && roots.task(0) === source)
            sent.call(this, source, roots, low, high);
        },
      })),
  },
  {
    name: 'a settled message stays pending',
    foundBy: RUN_ENDS,
    seeds: [1, 2],
    replace: () =>
      replaced(PendingMessages.prototype, 'take', ({ value: take }) => ({
        value(this: PendingMessages, ...key: Parameters<Take>): boolean {
          const isTaken: boolean = take.apply(this, key);
          if (isTaken) this.count += 1;
          return isTaken;
        },
      })),
  },
  {
    name: 'a fail is delivered twice',
    foundBy: 'one ack or fail per message',
    seeds: [1, 4],
    interposer: () =>
      tampered(INSTANCES, () => ({
        onReceive: (packet) => {
          if (packet.typeName !== TUPLE_SET_2_TYPE) return 'as it is';
          const set = tupleSetOf({ ...packet, typeName: 'heron.proto.system.HeronTupleSet' });
          return (set?.control?.fails.length ?? 0) > 0 ? [packet, packet] : 'as it is';
        },
      })),
    replace: forgetfulMessages,
  },
  {
    name: 'the first stop of back pressure releases two',
    foundBy: 'back pressure ends',
    seeds: [1, 13],
    replace: () =>
      replaced(HoldBook.prototype, 'stop', ({ value: stop }) => ({
        value(this: HoldBook, from: StreamManagerId, task: TaskId | undefined) {
          stop.call(this, from, task);
          const other = this.all.find((hold) => hold.streamManager === from);
          if (other !== undefined) stop.call(this, from, other.task);
        },
      })),
  },
  {
    name: 'what a dead bolt had taken stays open where there are no time-outs',
    foundBy: RUN_ENDS,
    seeds: [37, 488],
    replace: () =>
      replaced(AckPath.prototype, 'instanceLost', () => ({
        value(this: AckPath, task: TaskId) {
          this.instanceChanged(task);
        },
      })),
  },
  {
    name: 'trees of what was under way to a dead bolt are not failed',
    foundBy: 'fails have a true reason',
    seeds: [202, 230],
    replace: () => replaced(AckPath.prototype, 'lost', () => ({ value: () => undefined })),
  },
];

export const ACK_DEFECTS: readonly Defect[] = DEFECTS.map((defect) => ({
  ...defect,
  mode: 'at-least-once',
}));

type Ports = Parameters<NonNullable<Interposer['portsOf']>>[0];

/** Timers of the length of a rotation, of whichever time-out, run out early. */
function withHastyRotations({ clock }: Ports): Ports['clock'] {
  const rotations = new Set([1, 2, 3, 5].map((seconds) => seconds * 100 + 1));
  return lying(clock, {
    after: (delayMs, call) =>
      clock.after(rotations.has(delayMs) ? delayMs * ONE_ROTATION_LESS : delayMs, call),
  });
}

/** A message that has been taken can be taken a second time. */
function forgetfulMessages(): () => void {
  const taken = new WeakMap<PendingMessages, Map<string, unknown>>();
  return replaced(PendingMessages.prototype, 'take', ({ value: take }) => ({
    value(this: PendingMessages, low: number, high: number): boolean {
      const before = taken.get(this) ?? new Map<string, unknown>();
      taken.set(this, before);
      const key = `${high} ${low}`;
      if (take.call(this, low, high)) {
        before.set(key, this.messageId);
        return true;
      }
      if (!before.has(key)) return false;
      this.messageId = before.get(key);
      before.delete(key);
      return true;
    },
  }));
}
