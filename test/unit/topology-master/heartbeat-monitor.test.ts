import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StreamManagerId, streamManagerId } from '../../../src/base/ids.ts';
import { HeartbeatMonitor } from '../../../src/topology-master/heartbeat-monitor.ts';

const LIMITS = { timeoutMs: 10_000, checkPeriodMs: 1_000 };
const IDS = [1, 2, 3, 4].map((number) => streamManagerId(`stmgr-${number}`));

/** A monitor that is asked each second about those that are heard every second. */
class Watched {
  readonly monitor = new HeartbeatMonitor(LIMITS, 0);
  readonly #ids: readonly StreamManagerId[];
  #nowMs = 0;

  constructor(ids: readonly StreamManagerId[] = IDS) {
    this.#ids = ids;
    for (const id of ids) this.monitor.heard(id, 0);
  }

  /** The verdicts other than `all-heard` of some seconds in which only `speaking` are heard. */
  run(seconds: number, speaking: readonly string[] = []): string[] {
    const verdicts: string[] = [];
    for (let second = 0; second < seconds; second += 1) {
      this.#nowMs += 1_000;
      for (const id of this.#ids) if (speaking.includes(id)) this.monitor.heard(id, this.#nowMs);
      const verdict = this.monitor.check(this.#nowMs);
      if (verdict.kind === 'all-heard') continue;
      verdicts.push(`${this.#nowMs / 1_000} ${verdict.kind} ${verdict.ids.join(' ')}`);
      if (verdict.kind === 'silent') for (const id of verdict.ids) this.monitor.forget(id);
    }
    return verdicts;
  }

  /** The verdict after a time in which this process did not run. */
  sleep(seconds: number): string {
    this.#nowMs += seconds * 1_000;
    return this.monitor.check(this.#nowMs).kind;
  }
}

test('one that falls silent is found after the time-out, not before', () => {
  const watched = new Watched();
  assert.deepEqual(watched.run(20, ['stmgr-1', 'stmgr-2', 'stmgr-3']), ['11 silent stmgr-4']);
});

test('half of them is still their own fault', () => {
  const watched = new Watched();
  assert.deepEqual(watched.run(20, ['stmgr-1', 'stmgr-2']), ['11 silent stmgr-3 stmgr-4']);
});

test('the only one there is may fall silent', () => {
  const watched = new Watched(IDS.slice(0, 1));
  assert.deepEqual(watched.run(20), ['11 silent stmgr-1']);
});

test('when most fall silent nobody is judged, for as long as it lasts', () => {
  const watched = new Watched();
  assert.deepEqual(watched.run(32), [
    '11 observer-suspected stmgr-1 stmgr-2 stmgr-3 stmgr-4',
    '22 observer-suspected stmgr-1 stmgr-2 stmgr-3 stmgr-4',
  ]);
  assert.deepEqual(watched.run(20, IDS), []);
});

test('after such a time, one that stays silent is found', () => {
  const watched = new Watched();
  watched.run(11);
  assert.deepEqual(watched.run(20, ['stmgr-1', 'stmgr-2', 'stmgr-3']), ['22 silent stmgr-4']);
});

test('when this process stood still, the others get their time again', () => {
  const watched = new Watched();
  assert.equal(watched.sleep(60), 'observer-suspected');
  assert.deepEqual(watched.run(10, ['stmgr-1', 'stmgr-2', 'stmgr-3']), []);
  assert.deepEqual(watched.run(1, ['stmgr-1', 'stmgr-2', 'stmgr-3']), ['71 silent stmgr-4']);
});

test('one that was forgotten is not looked for', () => {
  const watched = new Watched();
  const { monitor } = watched;
  monitor.forget(streamManagerId('stmgr-4'));
  assert.deepEqual(watched.run(20, ['stmgr-1', 'stmgr-2', 'stmgr-3']), []);
  assert.equal(monitor.lastHeardMs(streamManagerId('stmgr-4')), undefined);
  assert.equal(monitor.lastHeardMs(streamManagerId('stmgr-1')), 20_000);
});
