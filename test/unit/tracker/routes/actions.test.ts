import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { environmentError } from '../../../../src/base/errors.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import type { AppendFile } from '../../../../src/base/rotating-file.ts';
import { AuditLog } from '../../../../src/tracker/actions/audit-log.ts';
import type {
  ActionOutcome,
  ActionPlace,
  TrackerActions,
} from '../../../../src/tracker/actions/tracker-actions.ts';
import { registerActions } from '../../../../src/tracker/routes/actions.ts';
import { TrackerApp } from '../../../../src/tracker/tracker-app.ts';
import type { TrackerParts } from '../../../../src/tracker/tracker-parts.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const TOKEN = 'a'.repeat(20);
const PLACE: ActionPlace = { cluster: 'local', role: 'ada', environ: 'dev', topology: 'words' };
const BASE = '/api/v1/topologies/local/ada/dev/words';
const DONE: ActionOutcome = { isDone: true, result: { state: 'RUNNING' }, warnings: ['careful'] };

type Wish = Parameters<TrackerActions['perform']>[1];

function anApp({
  outcome = DONE,
  isLooking = false,
  isFull = () => false,
}: {
  readonly outcome?: ActionOutcome | (() => Promise<ActionOutcome>);
  /** A tracker that only looks. */
  readonly isLooking?: boolean;
  readonly isFull?: () => boolean;
} = {}) {
  const wishes: (readonly [ActionPlace, Wish])[] = [];
  const lines: Record<string, unknown>[] = [];
  const file: AppendFile = {
    append: (line) => {
      if (isFull()) return false;
      lines.push(JSON.parse(String(line)) as Record<string, unknown>);
      return true;
    },
    close: () => {},
  };
  const clock = new ManualClock();
  const app = new TrackerApp();
  const parts = {
    clock,
    logger: silentLogger,
    snapshots: { now: () => ({ clusters: [], version: 0 }) },
  } as unknown as TrackerParts;
  registerActions(app, parts, {
    actions: {
      perform: (place, wish) => {
        wishes.push([place, wish]);
        return typeof outcome === 'function' ? outcome() : Promise.resolve(outcome);
      },
    },
    tokens: isLooking ? undefined : [{ name: 'ada', token: TOKEN }],
    audit: new AuditLog(file, clock),
  });
  const ask = (
    method: string,
    path: string,
    body?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> => {
    const type = body?.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded';
    return Promise.resolve(
      app.hono.request(`http://127.0.0.1${BASE}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${TOKEN}`,
          ...(body !== undefined && { 'content-type': type }),
          ...headers,
        },
        ...(body !== undefined && { body }),
      }),
    );
  };
  return { ask, wishes, lines, app };
}

const UPDATE = {
  kind: 'update',
  componentParallelism: new Map(),
  containerNumber: undefined,
  runtimeConfig: [],
  isDryRun: false,
  force: false,
  wait: true,
  timeoutSeconds: 180,
} as const;
const ALL_LETTERS = { ids: [], component: undefined, reason: undefined, timeoutSeconds: 60 };

const CASES: readonly (readonly [string, string, string | undefined, Wish, string])[] = [
  ['POST', '/activate', undefined, { kind: 'activate' }, 'words activated'],
  ['POST', '/deactivate', '', { kind: 'deactivate' }, 'words deactivated'],
  [
    'POST',
    '/restart',
    undefined,
    { kind: 'restart', what: undefined, timeoutSeconds: 60 },
    'words restarted',
  ],
  [
    'POST',
    '/restart',
    'container_id=2',
    { kind: 'restart', what: '2', timeoutSeconds: 60 },
    'words restarted',
  ],
  [
    'POST',
    '/restart',
    '{"process":"stmgr-1","timeout":5}',
    { kind: 'restart', what: 'stmgr-1', timeoutSeconds: 5 },
    'words restarted',
  ],
  [
    'POST',
    '/update',
    'component_parallelism=split:4&component_parallelism=count:2&dry_run=true',
    {
      ...UPDATE,
      componentParallelism: new Map([
        ['split', 4],
        ['count', 2],
      ]),
      isDryRun: true,
    },
    'words updated',
  ],
  [
    'POST',
    '/update',
    '{"container_number":3,"force":true,"wait":false}',
    { ...UPDATE, containerNumber: 3, force: true, wait: false },
    'words updated',
  ],
  [
    'POST',
    '/update',
    'runtime_config=split:a:1',
    { ...UPDATE, runtimeConfig: ['split:a:1'] },
    'words updated',
  ],
  [
    'POST',
    '/log-level',
    '{"level":"debug","component":"split"}',
    { ...UPDATE, runtimeConfig: ['split:topology.log.level:debug'], timeoutSeconds: 60 },
    'words updated',
  ],
  ['DELETE', '', undefined, { kind: 'kill', drain: false, timeoutSeconds: 60 }, 'words killed'],
  [
    'POST',
    '/dead-letters/replay',
    '{"id":["a","b"]}',
    { kind: 'replay-dead-letters', ...ALL_LETTERS, ids: ['a', 'b'] },
    'dead letters of words replayed',
  ],
  [
    'POST',
    '/dead-letters/purge',
    'reason=time-out',
    { kind: 'purge-dead-letters', ...ALL_LETTERS, reason: 'time-out' },
    'dead letters of words purged',
  ],
];

for (const [method, path, body, wish, message] of CASES) {
  test(`${method} ${path} ${body ?? ''}`, async () => {
    const { ask, wishes, lines } = anApp();
    const response = await ask(method, path, body);
    assert.equal(response.status, 200, await response.clone().text());
    assert.deepEqual(await response.json(), {
      message,
      result: { state: 'RUNNING' },
      warnings: ['careful'],
    });
    assert.deepEqual(wishes, [[PLACE, wish]]);
    assert.deepEqual(
      lines.map(({ number, event, who, outcome }) => [number, event, who, outcome]),
      [
        [1, 'asked', 'ada', undefined],
        [1, 'ended', undefined, 'done'],
      ],
    );
    assert.ok(!JSON.stringify(lines).includes(TOKEN));
  });
}

test('without a token, or where it may only look, nothing is done', async () => {
  for (const [method, path] of CASES) {
    const { ask, wishes, lines } = anApp();
    const cookie = `token=${TOKEN}`;
    assert.equal((await ask(method, path, undefined, { authorization: '', cookie })).status, 401);
    assert.deepEqual(wishes, []);
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['refused'],
    );
    const looking = anApp({ isLooking: true });
    assert.equal((await looking.ask(method, path)).status, 403);
    assert.deepEqual(looking.wishes, []);
  }
});

test('what a body may not say is named, and nothing is done', async () => {
  const { ask, wishes } = anApp();
  const cases: readonly (readonly [string, string, number, RegExp])[] = [
    ['/update', 'component_parallelism=split', 422, /written component:number/],
    ['/update', '{"container_number":"many"}', 422, /container_number: .*whole number/],
    ['/update', '{"containers":3}', 422, /containers/],
    ['/restart', '{"timeout":0}', 422, /at least one second/],
    ['/log-level', '{"level":"loud"}', 422, /level/],
    ['/activate', '{', 422, /no JSON/],
    ['/profile', '{}', 422, /process/],
    ['/dead-letters/purge', 'reason=because', 422, /reason/],
    ['/update', `{"runtime_config":"${'x'.repeat(70_000)}"}`, 413, /65536 bytes/],
  ];
  for (const [path, body, status, message] of cases) {
    const response = await ask('POST', path, body);
    assert.equal(response.status, status, path);
    assert.match(await response.text(), message);
  }
  const typed = await ask('POST', '/activate', 'x', { 'content-type': 'text/plain' });
  assert.equal(typed.status, 415);
  assert.deepEqual(wishes, []);
});

test('a failure says what, why and what to do next', async () => {
  const error = {
    code: 'TOPOLOGY_NOT_FOUND',
    domain: 'user',
    message: 'there is no words',
    next: 'look at the list',
  } as const;
  const { ask, lines } = anApp({ outcome: { isDone: false, error } });
  const response = await ask('POST', '/activate');
  assert.equal(response.status, 404);
  assert.deepEqual(await response.json(), { message: 'there is no words', error });
  assert.equal(lines.at(-1)?.['outcome'], 'there is no words');
});

test('what cannot be written down is not done', async () => {
  const { ask, wishes } = anApp({ isFull: () => true });
  const response = await ask('POST', '/activate');
  assert.notEqual(response.status, 200);
  assert.deepEqual(wishes, []);
});

test('a fault of ours ends the line of its action too', async () => {
  const { ask, lines } = anApp({
    outcome: () => Promise.reject(environmentError('STATE_UNAVAILABLE', 'the store is away')),
  });
  assert.notEqual((await ask('POST', '/activate')).status, 200);
  assert.equal(lines.at(-1)?.['outcome'], 'the store is away');
});

test('only so many actions are under way at once', async (t: TestContext) => {
  const { promise, resolve } = Promise.withResolvers<ActionOutcome>();
  t.after(() => {
    resolve(DONE);
  });
  const { ask } = anApp({ outcome: () => promise });
  const waiting = Array.from({ length: 16 }, () => ask('POST', '/activate'));
  const refused = await ask('POST', '/deactivate');
  assert.equal(refused.status, 429);
  resolve(DONE);
  for (const response of await Promise.all(waiting)) assert.equal(response.status, 200);
  assert.equal((await ask('POST', '/activate')).status, 200);
});

test('dead letters are shown to everybody', async () => {
  const { ask, wishes } = anApp({ isLooking: true });
  const without = { authorization: '' };
  const list = await ask('GET', '/dead-letters?component=split&limit=5', undefined, without);
  assert.deepEqual(await list.json(), { state: 'RUNNING' });
  assert.equal((await ask('GET', '/dead-letters/x-1', undefined, without)).status, 200);
  assert.equal((await ask('GET', '/dead-letters?limit=0', undefined, without)).status, 400);
  assert.deepEqual(
    wishes.map(([, wish]) => wish),
    [
      { kind: 'list-dead-letters', component: 'split', reason: undefined, limit: 5 },
      { kind: 'show-dead-letters', ids: ['x-1'] },
    ],
  );
});

test('each action is in the OpenAPI document', () => {
  const { app } = anApp();
  const { paths } = app.hono.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'tracker', version: '1' },
  });
  const prefix = '/api/v1/topologies/{cluster}/{role}/{environment}/{name}';
  for (const [method, path] of CASES) {
    assert.ok(paths?.[prefix + path]?.[method === 'DELETE' ? 'delete' : 'post'], path);
  }
});
