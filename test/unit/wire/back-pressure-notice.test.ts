import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import { hasCode } from '../../../src/base/errors.ts';
import {
  type BackPressureNotice,
  backPressureSet,
  readBackPressureNotice,
} from '../../../src/wire/back-pressure-notice.ts';
import {
  type BackPressure,
  BackPressureSchema,
  HeronTupleSet2Schema,
} from '../../../src/wire/generated/tuple_pb.js';
import { StreamHeaders } from '../../../src/wire/stream-header.ts';
import { TupleSetReader } from '../../../src/wire/tuple-set-reader.ts';

const texts = fc.option(fc.string({ unit: 'grapheme', maxLength: 200 }), { nil: undefined });
const notices: fc.Arbitrary<BackPressureNotice> = fc.record({
  isHeld: fc.boolean(),
  component: texts,
  streamManager: texts,
});
const tasks = fc.nat({ max: 2 ** 31 - 1 });

function generated({ isHeld, component, streamManager }: BackPressureNotice): BackPressure {
  return create(BackPressureSchema, {
    isHeld,
    ...(component !== undefined && { component }),
    ...(streamManager !== undefined && { stmgr: streamManager }),
  });
}

suite('the notice of back pressure', () => {
  test('is written as the generated code writes it', () => {
    fc.assert(
      fc.property(tasks, notices, (srcTaskId, notice) => {
        const set = create(HeronTupleSet2Schema, { srcTaskId, backPressure: generated(notice) });
        const expected = toBinary(HeronTupleSet2Schema, set);
        assert.deepEqual(new Uint8Array(backPressureSet(srcTaskId, notice)), expected);
      }),
    );
  });

  test('is read as the generated code writes it', () => {
    fc.assert(
      fc.property(notices, (notice) => {
        const bytes = toBinary(BackPressureSchema, generated(notice));
        assert.deepEqual(readBackPressureNotice(bytes, 0, bytes.length), { ...notice });
      }),
    );
  });

  test('is found in its set', () => {
    const notice = { isHeld: true, component: 'slow', streamManager: 'stmgr-2' };
    const bytes = backPressureSet(7, notice);
    const set = new TupleSetReader(new StreamHeaders());
    set.open(bytes, 0, bytes.length);
    assert.equal(set.sourceTask, 7);
    assert.deepEqual(
      readBackPressureNotice(bytes, set.backPressureStart, set.backPressureEnd),
      notice,
    );
  });

  test('of broken bytes is refused with a code, whatever they are', () => {
    const whole = toBinary(BackPressureSchema, generated({ ...HELD, streamManager: 'stmgr-1' }));
    for (let end = 0; end < whole.length; end += 1) {
      const isPrefix = end === 2 || end === 8; // Without the optional texts.
      if (isPrefix) continue;
      assert.throws(
        () => readBackPressureNotice(whole, 0, end),
        (error) => hasCode(error, 'PACKET_MALFORMED'),
      );
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          readBackPressureNotice(bytes, 0, bytes.length);
        } catch (error) {
          assert.ok(hasCode(error, 'PACKET_MALFORMED'));
        }
      }),
    );
  });
});

const HELD: BackPressureNotice = { isHeld: true, component: 'slow', streamManager: undefined };
