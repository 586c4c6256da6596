import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, test } from 'node:test';
import { keysIn, Terminal } from '../../../../src/cli/top/terminal.ts';

/* A terminal that tells what was done to it. */

const ENTER = '\u001B[?1049h\u001B[?25l\u001B[2J';
const LEAVE = '\u001B[?25h\u001B[?1049l';

function aTerminal() {
  const done: string[] = [];
  const input = Object.assign(new EventEmitter(), {
    setRawMode: (isRaw: boolean) => done.push(isRaw ? 'raw' : 'cooked'),
    resume: () => {},
    pause: () => {},
  });
  const output = Object.assign(new EventEmitter(), {
    columns: 80,
    rows: 24,
    writableNeedDrain: false,
    write: (text: string) => done.push(text),
  });
  const host = Object.assign(new EventEmitter(), {
    pid: 17,
    kill: (pid: number, signal: string) => done.push(`${signal} ${pid}`),
  });
  const keys: unknown[] = [];
  let redraws = 0;
  const events = { onKey: (key: unknown) => keys.push(key), onRedraw: () => (redraws += 1) };
  const terminal = new Terminal({ input, output }, events, host);
  const taken = (): readonly string[] => done.splice(0);
  return { terminal, input, output, host, keys, taken, redraws: () => redraws };
}

const RESTORED = [LEAVE, 'cooked'];

describe('whatever ends it, the terminal is given back (T1)', () => {
  test('closed, and closed again', () => {
    const { terminal, host, taken } = aTerminal();
    assert.deepEqual(taken(), ['raw', ENTER]);
    terminal[Symbol.dispose]();
    terminal[Symbol.dispose]();
    host.emit('exit');
    assert.deepEqual(taken(), RESTORED);
    assert.equal(host.eventNames().length, 0);
  });

  for (const event of ['exit', 'uncaughtExceptionMonitor']) {
    test(`the process tells of ${event}`, () => {
      const { host, taken } = aTerminal();
      taken();
      host.emit(event);
      assert.deepEqual(taken(), RESTORED);
    });
  }

  for (const signal of ['SIGQUIT', 'SIGABRT']) {
    test(`${signal}, which then does what it does`, () => {
      const { host, taken } = aTerminal();
      taken();
      host.emit(signal);
      assert.deepEqual(taken(), [...RESTORED, `${signal} 17`]);
      assert.equal(host.listenerCount(signal), 0);
    });
  }

  test('suspended by key or signal, and gone on with', () => {
    const { input, host, taken, redraws } = aTerminal();
    taken();
    input.emit('data', '\u001A');
    assert.deepEqual(taken(), [...RESTORED, 'SIGSTOP 17']);
    host.emit('SIGCONT');
    assert.deepEqual([taken(), redraws()], [['raw', ENTER], 1]);
    host.emit('SIGTSTP');
    assert.deepEqual(taken(), [...RESTORED, 'SIGSTOP 17']);
  });

  test('a terminal that is gone does not stand in the way', () => {
    const { terminal, input } = aTerminal();
    input.setRawMode = () => {
      throw new Error('EIO');
    };
    terminal[Symbol.dispose]();
  });
});

test('a picture is drawn from the top, each line to its end', () => {
  const { terminal, output, taken, redraws } = aTerminal();
  taken();
  terminal.draw(['one', 'two']);
  assert.deepEqual(taken(), ['\u001B[Hone\u001B[K\r\ntwo\u001B[K\u001B[J']);
  output.writableNeedDrain = true;
  terminal.draw(['left out: the last one has not arrived yet']);
  assert.deepEqual(taken(), []);
  output.columns = 0;
  assert.deepEqual(terminal.size, { columns: 80, rows: 24 });
  output.emit('resize');
  assert.equal(redraws(), 1);
});

test('keys come one by one, whatever they are read in', () => {
  assert.deepEqual(keysIn('q\u001B[A\u001BOB\u001B[5~\r\t\u0003\u007F\u001B'), [
    { letter: 'q' },
    'up',
    'down',
    'page-up',
    'enter',
    'tab',
    'interrupt',
    'escape',
    'escape',
  ]);
  assert.deepEqual(keysIn('\u001B[200~\u001B[1;5Cñ😀\u0000'), [], 'no keys of ours');
});
