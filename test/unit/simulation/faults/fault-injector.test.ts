import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultPlan } from '../../../../src/simulation/faults/fault.ts';
import {
  FaultInjector,
  type FaultPorts,
} from '../../../../src/simulation/faults/fault-injector.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** A world that writes down what is done to it. */
function aWorld({ restartAfterMs = 100 } = {}) {
  const clock = new ManualClock();
  const living = new Set(['stmgr-1', 'stmgr-2', 'executor-1', 'container_1_words_1']);
  const done: string[] = [];
  const say = (what: string): void => void done.push(`${clock.now()}: ${what}`);
  const lasting = (what: string) => {
    say(what);
    return () => say(`end of ${what}`);
  };
  const ports: FaultPorts = {
    get nowMs() {
      return clock.now();
    },
    at: (delayMs, call) => clock.after(delayMs, call),
    names: () => [...living],
    kill(name) {
      say(`kill ${name}`);
      living.delete(name);
      clock.after(restartAfterMs, () => living.add(name));
    },
    pause: (name) => say(`pause ${name}`),
    resume: (name) => say(`resume ${name}`),
    startDuplicateMaster: () => say('duplicate master'),
    loseMasterNode: () => say('no master node'),
    slowLinks: (ends, extraMs) => lasting(`slow ${ends.join(' - ')} ${extraMs}`),
    dropConnections: (ends) => say(`drop ${ends.join(' - ')}`),
    halfOpen: (ends) => lasting(`half-open ${ends.join(' - ')}`),
    blackHole: (ends) => lasting(`black hole ${ends.join(' - ')}`),
    partition: (ends, { oneWay }) => lasting(`partition ${ends.join(' - ')} ${oneWay}`),
    slowDisk: (extraMs) => lasting(`slow disk ${extraMs}`),
    fillDisk: () => lasting('full disk'),
    stopStore: (how) => lasting(`store ${how}`),
    stepWallClock: (byMs) => say(`step ${byMs}`),
    command: ({ command }) => say(command),
  };
  const injector = new FaultInjector(ports);
  return { clock, done, injector, living };
}

function whatHappens(plan: FaultPlan, untilMs = 10_000): readonly string[] {
  const { clock, done, injector } = aWorld();
  injector.start(plan);
  clock.advance(untilMs);
  return done;
}

test('processes that are to die together die at the same moment', () => {
  const processes = ['stream-manager#0', 'instance#0'] as const;
  assert.deepEqual(whatHappens([{ atMs: 5, kind: 'crash', processes }]), [
    '5: kill stmgr-1',
    '5: kill container_1_words_1',
  ]);
});

test('what lasts ends once, at its time, also when it overlaps (I1)', () => {
  const plan: FaultPlan = [
    { atMs: 1, kind: 'full-disk', forMs: 10 },
    { atMs: 4, kind: 'full-disk', forMs: 3 },
    { atMs: 5, kind: 'slow-disk', extraMs: 7, forMs: 1 },
    { atMs: 6, kind: 'store-outage', how: 'hanging', forMs: 2 },
  ];
  assert.deepEqual(whatHappens(plan), [
    '1: full disk',
    '4: full disk',
    '5: slow disk 7',
    '6: store hanging',
    '6: end of slow disk 7',
    '7: end of full disk',
    '8: end of store hanging',
    '11: end of full disk',
  ]);
});

test('links are named by the processes at their ends', () => {
  const between = [['stream-manager#0'], ['stream-manager#1']] as const;
  const plan: FaultPlan = [
    { atMs: 1, kind: 'slow-link', between, extraMs: 9, forMs: 1 },
    { atMs: 3, kind: 'drop-connection', between },
    { atMs: 4, kind: 'half-open', between, forMs: 2 },
    { atMs: 7, kind: 'partition', between, oneWay: true, forMs: 2 },
    { atMs: 9.5, kind: 'black-hole', between, forMs: 0.25 },
  ];
  assert.deepEqual(whatHappens(plan), [
    '1: slow stmgr-1 - stmgr-2 9',
    '2: end of slow stmgr-1 - stmgr-2 9',
    '3: drop stmgr-1 - stmgr-2',
    '4: half-open stmgr-1 - stmgr-2',
    '6: end of half-open stmgr-1 - stmgr-2',
    '7: partition stmgr-1 - stmgr-2 true',
    '9: end of partition stmgr-1 - stmgr-2 true',
    '9.5: black hole stmgr-1 - stmgr-2',
    '9.75: end of black hole stmgr-1 - stmgr-2',
  ]);
});

test('a fault whose target is not there hits nobody (I2)', () => {
  const between = [['stream-manager#0'], ['topology-master#0']] as const;
  const plan: FaultPlan = [
    { atMs: 1, kind: 'crash', processes: ['scheduler#0'] },
    { atMs: 2, kind: 'drop-connection', between },
    { atMs: 3, kind: 'pause', process: 'metrics-manager#0', forMs: 1 },
  ];
  assert.deepEqual(whatHappens(plan), []);
});

test('of overlapping pauses of a process the last one to end resumes it', () => {
  const plan: FaultPlan = [
    { atMs: 1, kind: 'pause', process: 'stream-manager#0', forMs: 10 },
    { atMs: 2, kind: 'pause', process: 'stream-manager#0', forMs: 3 },
  ];
  assert.deepEqual(whatHappens(plan), [
    '1: pause stmgr-1',
    '2: pause stmgr-1',
    '11: resume stmgr-1',
  ]);
});

test('a storm kills a process each time it has lived long enough, so many times', () => {
  const storm = { kind: 'restart-storm', process: 'stream-manager#1' } as const;
  const done = whatHappens([{ atMs: 0, ...storm, times: 3, afterMs: 50, forMs: 5_000 }]);
  assert.deepEqual(done, ['0: kill stmgr-2', '150: kill stmgr-2', '300: kill stmgr-2']);
});

test('a storm ends at its time', () => {
  const storm = { kind: 'restart-storm', process: 'stream-manager#1' } as const;
  const done = whatHappens([{ atMs: 0, ...storm, times: 9, afterMs: 50, forMs: 200 }]);
  assert.deepEqual(done, ['0: kill stmgr-2', '150: kill stmgr-2']);
});

test('the rest of the kinds reach their ports', () => {
  const plan: FaultPlan = [
    { atMs: 1, kind: 'clock-step', byMs: -5 },
    { atMs: 2, kind: 'duplicate-master' },
    { atMs: 3, kind: 'command', command: 'deactivate' },
    { atMs: 4, kind: 'duplicate-master', nodeLostAfterMs: 30 },
  ];
  assert.deepEqual(whatHappens(plan), [
    '1: step -5',
    '2: duplicate master',
    '3: deactivate',
    '4: duplicate master',
    '34: no master node',
  ]);
});

test('what was hit is noted, with its times', () => {
  const { clock, injector } = aWorld();
  const plan: FaultPlan = [
    { atMs: 1, kind: 'pause', process: 'stream-manager#0', forMs: 10 },
    { atMs: 2, kind: 'drop-connection', between: [['instance#0'], ['stream-manager#0']] },
    { atMs: 3, kind: 'command', command: 'restart', container: 1 },
  ];
  injector.start(plan);
  clock.advance(100);
  assert.deepEqual(injector.injected, [
    { fault: plan[0], atMs: 1, endsAtMs: 11, processes: ['stmgr-1'], ends: undefined },
    {
      fault: plan[1],
      atMs: 2,
      endsAtMs: 2,
      processes: [],
      ends: [['container_1_words_1'], ['stmgr-1']],
    },
    {
      fault: plan[2],
      atMs: 3,
      endsAtMs: 3,
      processes: ['container_1_words_1', 'executor-1', 'stmgr-1'],
      ends: undefined,
    },
  ]);
});

test('after a stop nothing strikes, and what lasts still ends', () => {
  const { clock, done, injector } = aWorld();
  injector.start([
    { atMs: 1, kind: 'full-disk', forMs: 10 },
    { atMs: 5, kind: 'duplicate-master' },
  ]);
  clock.advance(2);
  injector.stop();
  clock.advance(100);
  assert.deepEqual(done, ['1: full disk', '11: end of full disk']);
});
