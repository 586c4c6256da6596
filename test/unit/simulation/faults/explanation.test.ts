import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentName, containerId, taskId } from '../../../../src/base/ids.ts';
import type { PackingPlan } from '../../../../src/model/packing-plan.ts';
import type { ProcessEnd } from '../../../../src/simulation/checkers/checker.ts';
import {
  type BrokenLink,
  InjectedFaultsExplanation,
} from '../../../../src/simulation/faults/explanation.ts';
import { endOf, type Fault } from '../../../../src/simulation/faults/fault.ts';
import type { InjectedFault, NamedEnds } from '../../../../src/simulation/faults/injected-fault.ts';

const resource = { cpu: 1, ramBytes: 1, diskBytes: 1 };
const instance = (task: number) => ({
  component: componentName('words'),
  task: taskId(task),
  componentIndex: task - 1,
  resource,
});

const packing = {
  containers: [
    { id: containerId(1), instances: [instance(1), instance(3)], required: resource },
    { id: containerId(2), instances: [instance(2)], required: resource },
  ],
} as unknown as PackingPlan;

interface Hit {
  readonly processes?: readonly string[];
  readonly ends?: NamedEnds;
}

function struck(fault: Fault, { processes = [], ends }: Hit = {}): InjectedFault {
  return { fault, atMs: fault.atMs, endsAtMs: endOf(fault), processes, ends };
}

function explained(...injected: readonly InjectedFault[]): InjectedFaultsExplanation {
  return new InjectedFaultsExplanation({ injected, brokenLinks: [], packing });
}

function withBroken(
  brokenLinks: readonly BrokenLink[],
  ...injected: readonly InjectedFault[]
): InjectedFaultsExplanation {
  return new InjectedFaultsExplanation({ injected, brokenLinks, packing });
}

function anEnd(process: string, how: Partial<ProcessEnd> = {}): ProcessEnd {
  const end = { kind: 'process-end', atMs: 10, process, pid: 1, reason: 'none' } as const;
  return { ...end, code: null, signal: 'SIGKILL', ...how };
}

const crash = struck(
  { atMs: 10, kind: 'crash', processes: ['stream-manager#0'] },
  { processes: ['stmgr-1'] },
);
const crashOfExecutor = struck(
  { atMs: 10, kind: 'crash', processes: ['executor#1'] },
  { processes: ['executor-1'] },
);
const twoMasters = struck({ atMs: 10, kind: 'duplicate-master' });

test('a run without faults explains nothing', () => {
  const nothing = explained();
  assert.equal(nothing.hasFaults, false);
  assert.equal(nothing.explainsEnd(anEnd('stmgr-1')), false);
  assert.equal(nothing.explainsLoss({ from: taskId(1), to: taskId(2), emittedAtMs: 1 }), false);
  assert.equal(nothing.explainsDelay({ processes: ['stmgr-1'], fromMs: 0, toMs: 1 }), false);
});

test('what stands still ends with its executor when it goes on (E1)', () => {
  const process = 'container_1_words_1';
  const slept = (...processes: readonly string[]) =>
    struck({ atMs: 5, kind: 'suspend', forMs: 40_000 }, { processes });
  const orderly = { code: 0, signal: null } as const;
  const isExplained = (endedAtMs: number, ...injected: readonly InjectedFault[]): boolean =>
    explained(crashOfExecutor, ...injected).explainsEnd(
      anEnd(process, { ...orderly, atMs: endedAtMs }),
    );
  assert.equal(isExplained(30_010), true);
  assert.equal(isExplained(40_006), false);
  assert.equal(isExplained(40_006, slept(process)), true);
  assert.equal(isExplained(40_006, slept('stmgr-2')), false);
  assert.equal(isExplained(70_006, slept(process)), false);
  const later = { ...slept(process), atMs: 50_000, endsAtMs: 90_000 };
  assert.equal(isExplained(90_001, later), false, 'it had its time before');
});

const ENDS: readonly [what: string, InjectedFault, ProcessEnd, boolean][] = [
  ['the process that was killed (E1)', crash, anEnd('stmgr-1'), true],
  ['another one of the same container', crash, anEnd('container_1_words_1'), false],
  [
    'the killed one by an exit of its own',
    crash,
    anEnd('stmgr-1', { code: 1, signal: null }),
    false,
  ],
  ['the killed one before the fault', crash, anEnd('stmgr-1', { atMs: 9 }), false],
  ['the killed one long after the fault', crash, anEnd('stmgr-1', { atMs: 11 }), false],
  [
    'what ends with its executor (E1)',
    crashOfExecutor,
    anEnd('container_1_words_1', { atMs: 12, code: 0, signal: null }),
    true,
  ],
  ['what belongs to another executor', crashOfExecutor, anEnd('stmgr-2', { atMs: 12 }), false],
  [
    'a master that another one refuses (E3)',
    twoMasters,
    anEnd('heron-tmanager', { code: 77, signal: null }),
    true,
  ],
  ['the second master by a kill (E3)', twoMasters, anEnd('heron-tmanager-duplicate'), true],
  ['the first master by a kill', twoMasters, anEnd('heron-tmanager'), false],
  ['a master that crashes', twoMasters, anEnd('heron-tmanager', { code: 1, signal: null }), false],
  ['anybody else', twoMasters, anEnd('stmgr-1', { code: 77, signal: null }), false],
  [
    'a process that was paused (E4)',
    struck(
      { atMs: 1, kind: 'pause', process: 'instance#0', forMs: 99 },
      { processes: ['stmgr-1'] },
    ),
    anEnd('stmgr-1', { code: 1, signal: null }),
    false,
  ],
  [
    'a process that is killed while it is paused (E4)',
    struck(
      { atMs: 1, kind: 'pause', process: 'instance#0', forMs: 99 },
      { processes: ['stmgr-1'] },
    ),
    anEnd('stmgr-1'),
    true,
  ],
  [
    'a process that is killed after its pause',
    struck({ atMs: 1, kind: 'pause', process: 'instance#0', forMs: 5 }, { processes: ['stmgr-1'] }),
    anEnd('stmgr-1'),
    false,
  ],
  [
    'a process that cannot remove its nodes (E4)',
    struck({ atMs: 1, kind: 'store-outage', how: 'failing', forMs: 99 }),
    anEnd('executor-1', { code: 1, signal: null, reason: 'a step failed: EIO: i/o error' }),
    true,
  ],
  [
    'a process that fails for another reason',
    struck({ atMs: 1, kind: 'store-outage', how: 'failing', forMs: 99 }),
    anEnd('executor-1', { code: 1, signal: null, reason: 'something is undefined' }),
    false,
  ],
  [
    'anybody when the disk is full (E4)',
    struck({ atMs: 1, kind: 'full-disk', forMs: 99 }),
    anEnd('stmgr-1', { code: 1, signal: null }),
    false,
  ],
  [
    'a process that a full disk lets have no pid file (E4)',
    struck({ atMs: 1, kind: 'full-disk', forMs: 99 }),
    anEnd('stmgr-1'),
    true,
  ],
  [
    'a process that is killed long after it',
    struck({ atMs: 1, kind: 'full-disk', forMs: 5 }),
    anEnd('stmgr-1', { atMs: 20_000 }),
    false,
  ],
  [
    'a master that cannot write its node (E4)',
    struck({ atMs: 1, kind: 'full-disk', forMs: 99 }),
    anEnd('heron-tmanager', { code: 69, signal: null }),
    true,
  ],
  [
    'a stream manager that gives up',
    struck({ atMs: 1, kind: 'full-disk', forMs: 99 }),
    anEnd('stmgr-1', { code: 69, signal: null }),
    false,
  ],
  [
    'a process of a container that is restarted (E5)',
    struck(
      { atMs: 1, kind: 'command', command: 'restart', container: 1 },
      { processes: ['executor-1', 'stmgr-1'] },
    ),
    anEnd('stmgr-1', { code: 0, signal: null }),
    true,
  ],
  [
    'a process that was not there yet when the restart was asked for (E5)',
    struck({ atMs: 1, kind: 'command', command: 'restart', container: 0 }),
    anEnd('executor-0', { signal: 'SIGTERM' }),
    true,
  ],
  [
    'a process of whichever container when all are restarted (E5)',
    struck({ atMs: 1, kind: 'command', command: 'restart' }),
    anEnd('executor-2', { signal: 'SIGTERM' }),
    true,
  ],
  [
    'a process of a container that is not restarted',
    struck(
      { atMs: 1, kind: 'command', command: 'restart', container: 1 },
      { processes: ['executor-1', 'stmgr-1'] },
    ),
    anEnd('executor-2', { signal: 'SIGTERM' }),
    false,
  ],
  [
    'a process of the container before the restart',
    struck({ atMs: 11, kind: 'command', command: 'restart', container: 1 }),
    anEnd('executor-1', { signal: 'SIGTERM' }),
    false,
  ],
  [
    'the scheduler, which a restart leaves alone',
    struck({ atMs: 1, kind: 'command', command: 'restart' }),
    anEnd('scheduler', { signal: 'SIGTERM' }),
    false,
  ],
  [
    'anybody after a kill (E5)',
    struck({ atMs: 1, kind: 'command', command: 'kill' }),
    anEnd('stmgr-1', { code: 0, signal: null }),
    true,
  ],
  [
    'a crash after a kill',
    struck({ atMs: 1, kind: 'command', command: 'kill' }),
    anEnd('stmgr-1', { code: 1, signal: null }),
    false,
  ],
];

for (const [what, injected, end, isExplained] of ENDS) {
  const { kind } = injected.fault;
  test(`${kind} ${isExplained ? 'excuses' : 'does not excuse'} the end of ${what}`, () => {
    assert.equal(explained(injected).explainsEnd(end), isExplained);
  });
}

const between = [['stream-manager#0'], ['stream-manager#1']] as const;
const streamManagers: Hit = { ends: [['stmgr-2'], ['stmgr-1']] };
const dropped = struck({ atMs: 10, kind: 'drop-connection', between }, streamManagers);

const broken: BrokenLink = { between: ['stmgr-1', 'stmgr-2'], atMs: 11 };
const fromFirst = { from: taskId(1), to: taskId(2), emittedAtMs: 9 };
const fromSecond = { from: taskId(2), to: taskId(3), emittedAtMs: 9 };
const within = { from: taskId(1), to: taskId(3), emittedAtMs: 9 };

test('a broken connection excuses losses on the ways over it, both ways (E2)', () => {
  const explanation = withBroken([broken], dropped);
  assert.equal(explanation.explainsLoss(fromFirst), true);
  assert.equal(explanation.explainsLoss(fromSecond), true);
  assert.equal(explanation.explainsLoss(within), false);
});

test('it excuses nothing that was emitted after it broke (E2)', () => {
  const explanation = withBroken([broken], dropped);
  assert.equal(explanation.explainsLoss({ ...fromFirst, emittedAtMs: 12 }), false);
});

test('a connection that breaks without a fault, or long after it, excuses nothing (E2)', () => {
  assert.equal(withBroken([broken]).explainsLoss(fromFirst), false);
  const late = withBroken([{ ...broken, atMs: 20_000 }], dropped);
  assert.equal(late.explainsLoss(fromFirst), false);
  const early = withBroken([{ ...broken, atMs: 9 }], dropped);
  assert.equal(early.explainsLoss(fromFirst), false);
});

test('a fault of links that broke no connection excuses no loss (E2)', () => {
  assert.equal(explained(dropped).explainsLoss(fromFirst), false);
});

test('the connection of an instance counts for its own tuples only', () => {
  const link = ['container_1_words_3', 'stmgr-1'] as const;
  const hit: Hit = { ends: [[link[0]], [link[1]]] };
  const brokenLink = { between: link, atMs: 11 };
  const explanation = withBroken([brokenLink], struck({ ...dropped.fault }, hit));
  assert.equal(explanation.explainsLoss({ ...fromFirst, from: taskId(3) }), true);
  assert.equal(explanation.explainsLoss(fromSecond), true);
  assert.equal(explanation.explainsLoss(fromFirst), false);
});

test('a pause excuses a connection that was given up (E2)', () => {
  const pause = { atMs: 1, kind: 'pause', process: 'stream-manager#0', forMs: 9 } as const;
  assert.equal(
    withBroken([broken], struck(pause, { processes: ['stmgr-2'] })).explainsLoss(fromFirst),
    true,
  );
  assert.equal(
    withBroken([broken], struck(pause, { processes: ['stmgr-3'] })).explainsLoss(fromFirst),
    false,
  );
});

test('a slow link excuses a delay and no loss (E4)', () => {
  const slow = { atMs: 10, kind: 'slow-link', between, extraMs: 5, forMs: 90 } as const;
  const explanation = explained(struck(slow, streamManagers));
  assert.equal(explanation.explainsLoss({ from: taskId(1), to: taskId(2), emittedAtMs: 9 }), false);
  const wait = { processes: ['stmgr-1'], fromMs: 50, toMs: 60 };
  assert.equal(explanation.explainsDelay(wait), true);
  assert.equal(explanation.explainsDelay({ ...wait, processes: ['stmgr-3'] }), false);
  assert.equal(explanation.explainsDelay({ ...wait, fromMs: 1, toMs: 9 }), false);
  assert.equal(explanation.explainsDelay({ ...wait, fromMs: 80_000, toMs: 80_001 }), false);
});

test('a fault of the whole machine excuses a delay of anybody', () => {
  const explanation = explained(struck({ atMs: 1, kind: 'slow-disk', extraMs: 1, forMs: 5 }));
  assert.equal(explanation.explainsDelay({ processes: ['stmgr-9'], fromMs: 2, toMs: 3 }), true);
});

test('a scheduler that was killed excuses the delays of whoever needs it, however long', () => {
  const explanation = explained(
    struck({ atMs: 10, kind: 'crash', processes: ['scheduler#0'] }, { processes: ['scheduler'] }),
  );
  const wait = { processes: ['scheduler', 'stmgr-1'], fromMs: 90_000, toMs: 99_000 };
  assert.equal(explanation.explainsDelay(wait), true);
  assert.equal(explanation.explainsDelay({ ...wait, processes: ['stmgr-1'] }), false);
});

test('an executor that was killed excuses delays of its container', () => {
  const explanation = explained(crashOfExecutor);
  assert.equal(explanation.explainsDelay({ processes: ['stmgr-1'], fromMs: 2, toMs: 30 }), true);
  assert.equal(explanation.explainsDelay({ processes: ['stmgr-2'], fromMs: 2, toMs: 30 }), false);
});
