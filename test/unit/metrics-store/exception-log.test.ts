import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ExceptionLog,
  type ExceptionRecord,
  summarize,
} from '../../../src/metrics-store/exception-log.ts';

const anException = (fields: Partial<ExceptionRecord> = {}): ExceptionRecord => ({
  component: 'word',
  instance: 'container_1_word_1',
  hostname: 'host',
  stackTrace: 'TypeError: x is not a function\n  at execute',
  firstTime: 'monday',
  lastTime: 'monday',
  count: 1,
  logging: '',
  ...fields,
});

test('exceptions are found by component and instance', () => {
  const log = new ExceptionLog();
  const first = anException();
  const second = anException({ instance: 'container_1_word_2' });
  const other = anException({ component: 'count' });
  for (const record of [first, second, other]) log.add(record);
  assert.deepEqual(log.of('word', []), [first, second]);
  assert.deepEqual(log.of('word', ['container_1_word_2']), [second]);
  assert.deepEqual(log.of('words', []), []);
});

test('only the newest are kept, for a bounded number of instances', () => {
  const log = new ExceptionLog();
  for (let count = 1; count <= 300; count += 1) log.add(anException({ count }));
  const kept = log.of('word', []);
  assert.equal(kept.length, 256);
  assert.equal(kept.at(0)?.count, 45);
  assert.equal(kept.at(-1)?.count, 300);
  for (let number = 0; number < 1_100; number += 1) log.add(anException({ instance: `${number}` }));
  assert.equal(log.of('word', []).length, 256 + 999);
});

test('a summary has one line for each class', () => {
  const summary = summarize([
    anException({ count: 2 }),
    anException({ stackTrace: 'RangeError: too far', count: 5 }),
    anException({ firstTime: 'tuesday', lastTime: 'tuesday', instance: 'other' }),
    anException({ stackTrace: 'no class' }),
  ]);
  assert.deepEqual(summary, [
    anException({ stackTrace: 'TypeError', lastTime: 'tuesday', count: 3 }),
    anException({ stackTrace: 'RangeError', count: 5 }),
  ]);
});

test('a log that joins repeats keeps the first time, the last time and how often', () => {
  const log = new ExceptionLog({ joinsRepeats: true });
  const report = (stackTrace: string, time: string, count: number, instance = 'one'): void =>
    log.add({
      component: 'word',
      instance,
      hostname: 'h',
      stackTrace,
      firstTime: time,
      lastTime: time,
      count,
      logging: '',
    });
  report('TypeError: x', 'monday', 2);
  report('RangeError: y', 'tuesday', 1);
  report('TypeError: x', 'wednesday', 3);
  report('TypeError: x', 'thursday', 1, 'another');
  assert.deepEqual(
    log
      .of('word', [])
      .map(({ stackTrace, firstTime, lastTime, count }) => [
        stackTrace,
        firstTime,
        lastTime,
        count,
      ]),
    [
      ['RangeError: y', 'tuesday', 'tuesday', 1],
      ['TypeError: x', 'monday', 'wednesday', 5],
      ['TypeError: x', 'thursday', 'thursday', 1],
    ],
  );
});
