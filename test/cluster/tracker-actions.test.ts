import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aCluster, PATIENTLY } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { aTracker, type TrackerStart } from '../support/running-tracker.ts';

/* What may be done through a Tracker, to a topology of real processes. */

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

type Ask = (method: string, path: string, body?: object) => Promise<Answer>;

function tokenOf({ tokenFile }: Pick<TrackerStart, 'tokenFile'>): string {
  return tokenFile === undefined
    ? ''
    : (readFileSync(tokenFile, 'utf8').trim().split(' ')[1] ?? '');
}

function asking(start: Pick<TrackerStart, 'url' | 'tokenFile'>, place: string): Ask {
  const { url } = start;
  const token = tokenOf(start);
  return async (method, path, body) => {
    const response = await fetch(`${url}/api/v1/topologies/${place}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
}

test('through a tracker a topology rests, grows, is looked into, and ends', async (t) => {
  const cluster = await aCluster(t);
  // Far more lines than there is time for: it ends when it is killed.
  await cluster.submit('updated-words', 'watched', { args: [cluster.folder, 1e9, 1e9] });
  await using looking = await aTracker(cluster);
  const files = ['tokens', 'audit.jsonl'].map((name) => join(cluster.folder, name));
  const [tokenFile = '', auditLog = ''] = files;
  const flags = [`--token-file=${tokenFile}`, `--audit-log=${auditLog}`];
  await using acting = await aTracker(cluster, '--allow-actions', ...flags);
  assert.deepEqual([acting.tokenFile, acting.auditLog], files);
  const place = `${cluster.place}/watched`;
  const ask = asking(acting, place);
  const stateIs = (wanted: string): Promise<void> =>
    eventually(async () => {
      assert.equal((await cluster.status('watched')).state, wanted);
    }, PATIENTLY);
  const done = async (path: string, body?: object): Promise<Answer['body']> => {
    const answer = await ask('POST', path, body);
    assert.equal(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

  await t.test('only with a token, and only where actions are allowed', async () => {
    for (const [start, status] of [
      [looking, 403],
      [{ url: acting.url }, 401],
    ] as const) {
      const refused = await asking(start, place)('POST', '/deactivate');
      assert.equal(refused.status, status);
    }
    await stateIs('RUNNING');
  });

  await t.test('it rests and goes on', async () => {
    assert.equal((await done('/deactivate'))['message'], 'watched deactivated');
    await stateIs('PAUSED');
    await done('/activate');
    await stateIs('RUNNING');
  });

  const splitters = async (): Promise<number> => {
    const { instances } = await cluster.physicalPlan('watched');
    return instances.filter(({ component }) => component === 'split').length;
  };
  const { instances } = await cluster.physicalPlan('watched');
  const process = instances.find(({ component }) => component === 'lines')?.id ?? '';

  await t.test('its plan is shown before it changes, and then it changes', async () => {
    const wish = { component_parallelism: ['split:3'] };
    await done('/update', { ...wish, dry_run: true });
    assert.equal(await splitters(), 2);
    await done('/update', wish);
    assert.equal(await splitters(), 3);
  });

  await t.test('a process is started anew', async () => {
    const { pid } = await cluster.statusOf('watched', process);
    await done('/restart', { process, timeout: 120 });
    const after = await cluster.statusOf('watched', process);
    assert.notEqual(after.pid, pid);
    assert.equal(after.state, 'running');
  });

  await t.test('it is looked into', async () => {
    await done('/log-level', { level: 'debug' });
    const sampled = await done('/sample', { process, count: 3, seconds: 60 });
    const { tuples } = sampled['result'] as { readonly tuples: readonly unknown[] };
    assert.equal(tuples.length, 3);
    const profiled = await done('/profile', { process, seconds: 1 });
    const { file, container } = profiled['result'] as Readonly<Record<string, string>>;
    const [name = '', role = '', environ = ''] = cluster.place.split('/');
    const where = { container: String(container), path: file ?? '' };
    const query = new URLSearchParams({
      cluster: name,
      role,
      environ,
      topology: 'watched',
      ...where,
    });
    const download = (headers: Readonly<Record<string, string>>): Promise<Response> =>
      fetch(`${acting.url}/topologies/container/filedownload?${query.toString()}`, { headers });
    assert.equal((await download({})).status, 401);
    const profile = await download({ authorization: `Bearer ${tokenOf(acting)}` });
    assert.ok('nodes' in ((await profile.json()) as object));
  });

  await t.test('what is wrong is said, and every action is written down', async () => {
    const wrong = await ask('POST', '/update', { component_parallelism: ['nobody:2'] });
    assert.equal(wrong.status, 400);
    assert.match(String(wrong.body['message']), /nobody/);
    assert.equal((await ask('DELETE', '')).status, 200);
    const gone = 101;
    assert.equal((await cluster.heron('status', cluster.place, 'watched')).code, gone);
    assert.equal((await ask('DELETE', '')).status, 404);
    const lines = readFileSync(auditLog, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    const asked = lines.filter(({ event }) => event === 'asked').map(({ action }) => action);
    assert.deepEqual(asked, [
      'deactivate',
      'activate',
      'update',
      'update',
      'restart',
      'log-level',
      'sample',
      'profile',
      'update',
      'delete',
      'delete',
    ]);
    const ended = lines.filter(({ event }) => event === 'ended').map(({ outcome }) => outcome);
    assert.equal(ended.filter((outcome) => outcome === 'done').length, 9);
    assert.equal(lines.filter(({ event }) => event === 'refused').length, 1);
  });
});
