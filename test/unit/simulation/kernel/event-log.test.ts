import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventLog } from '../../../../src/simulation/kernel/event-log.ts';

function logOf(lines: number, keepsText = true): EventLog {
  let nowUs = 0;
  const log = new EventLog({ nowUs: () => nowUs, keepsText });
  for (let line = 0; line < lines; line += 1) {
    nowUs = line * 1_500_000;
    log.add(`stmgr-${line % 3}`, `line ${line}`);
  }
  return log;
}

describe('the event log', () => {
  it('shows time, source and text in columns', () => {
    let nowUs = 12_345_678;
    const log = new EventLog({ nowUs: () => nowUs });
    log.add('stmgr-1', 'connects');
    nowUs = 1_234_567_890_123;
    log.add('a-name-that-is-long', 'one\ntwo\n');
    assert.equal(
      log.text,
      '  12.345678 s  stmgr-1          connects\n' +
        '1234567.890123 s  a-name-that-is-long one\n    two\n',
    );
  });

  it('has the same hash with and without its text, which covers every line', () => {
    const [kept, hashed] = [logOf(5000), logOf(5000, false)];
    assert.equal(kept.hash, hashed.hash);
    assert.equal(kept.text.split('\n').length - 1, 5000);
    assert.equal(hashed.text, '');
    assert.equal(hashed.lines, 5000);
    assert.notEqual(logOf(4999).hash, kept.hash);
  });

  it('covers marks by its hash, and their order', () => {
    const hashOf = (marks: readonly (readonly [number, number])[]): string => {
      const log = logOf(1);
      for (const [one, other] of marks) log.mark(one, other);
      return log.hash;
    };
    const base = hashOf([
      [1, 2],
      [3, 4],
    ]);
    assert.notEqual(hashOf([[1, 2]]), base);
    const reordered = hashOf([
      [3, 4],
      [1, 2],
    ]);
    assert.notEqual(reordered, base);
  });

  it('goes on after its hash was asked for', () => {
    const log = logOf(3);
    const before = log.hash;
    assert.equal(log.hash, before);
    log.add('x', 'more');
    assert.notEqual(log.hash, before);
  });
});
