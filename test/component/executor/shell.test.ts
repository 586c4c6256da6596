import assert from 'node:assert/strict';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { openShell } from '../../../src/executor/shell.ts';
import { listenHttp } from '../../../src/net/http-server.ts';
import { ContainerClient } from '../../../src/topology-client/container-client.ts';
import { TOKEN_HEADER } from '../../../src/wire/token-header.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/* The shell of a container on real sockets and files; its processes are only names. */

const HOST = '127.0.0.1';
const TOKEN = 'a-secret-of-the-topology';

async function aShell(t: TestContext) {
  const { path: root } = await temporaryFolder(t);
  const folder = join(root, 'container');
  await mkdir(join(folder, 'log-files'), { recursive: true });
  const reports = [
    { name: 'stmgr-1', pid: 41, state: 'running', restarts: 0, startedAtMs: 0 },
    { name: 'container_1_word_2', pid: null, state: 'restarting', restarts: 1, startedAtMs: 0 },
  ] as const;
  const server = await openShell({
    listenHttp,
    host: HOST,
    token: TOKEN,
    folder,
    executorName: 'heron-executor-1',
    executorPid: 40,
    processes: {
      reports: () => reports,
      isInstance: (name) => name.startsWith('container_'),
      handleOf: () => undefined,
      withSilence: (_name, work) => work(),
    },
    clock: systemClock,
    logger: silentLogger,
  });
  t.after(() => server.close());
  const url = `http://${HOST}:${server.port}`;
  const client = new ContainerClient({ host: HOST, port: server.port, token: TOKEN });
  const ask = async (
    path: string,
    init: { method?: string; headers?: Record<string, string> } = {},
  ) => {
    const headers = { [TOKEN_HEADER]: TOKEN, ...init.headers };
    const response = await fetch(`${url}${path}`, { ...init, headers });
    return { status: response.status, text: await response.text() };
  };
  return { root, folder, client, ask, url, port: server.port };
}

/** The bytes of the request line as they are: `fetch` would tidy the path. */
function askRaw(port: number, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ host: HOST, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on('error', reject);
  });
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(stream).text();
}

suite('who may ask', () => {
  test('all but the health demands the token', async (t) => {
    const { url, client, port } = await aShell(t);
    assert.equal(await (await fetch(`${url}/health`)).text(), 'ok');
    assert.ok(await client.isHealthy());
    for (const path of ['/pid/stmgr-1', '/filedata/x', '/filestats/.', '/download/x', '/none']) {
      for (const token of ['', 'another', `${TOKEN}x`]) {
        const answer = await fetch(`${url}${path}`, { headers: { [TOKEN_HEADER]: token } });
        assert.equal(answer.status, 401, `${path} with '${token}'`);
      }
    }
    const stranger = new ContainerClient({ host: HOST, port, token: 'another' });
    await assert.rejects(stranger.fileStats('.'), { code: 'NOT_AUTHORIZED' });
  });

  test('requests of other sites and for other hosts are refused', async (t) => {
    const { ask, port } = await aShell(t);
    const profile = { method: 'POST', headers: { Origin: 'http://example.com' } };
    assert.equal((await ask('/profile/stmgr-1', profile)).status, 403);
    const rebound = { Host: 'evil.example', [TOKEN_HEADER]: TOKEN };
    assert.equal(await askRaw(port, '/filestats/.', rebound), 403);
  });

  test('what changes something is posted, what shows something is not', async (t) => {
    const { ask } = await aShell(t);
    assert.equal((await ask('/profile/stmgr-1')).status, 405);
    assert.equal((await ask('/pid/stmgr-1', { method: 'POST' })).status, 405);
    assert.equal((await ask('/constructor/x')).status, 404);
  });
});

suite('files', () => {
  test('nothing outside of the folder is served', async (t) => {
    const { root, folder, ask, port } = await aShell(t);
    await writeFile(join(root, 'outside'), 'secret');
    await symlink(join(root, 'outside'), join(folder, 'link'));
    await symlink(root, join(folder, 'folder-link'));
    await writeFile(join(folder, 'inside'), 'text');
    await symlink(join(folder, 'inside'), join(folder, 'inner-link'));
    const escapes = [
      '%2e%2e%2foutside',
      '..%2foutside',
      'log-files%2f..%2f..%2foutside',
      '%2fetc%2fpasswd',
      '/etc/passwd',
      'link',
      'folder-link/outside',
      'inside%00',
      '..%5coutside',
    ];
    for (const verb of ['filedata', 'download', 'filestats']) {
      for (const path of escapes) {
        const { status, text } = await ask(`/${verb}/${path}`);
        assert.equal(status, 403, `/${verb}/${path}: ${text}`);
        assert.ok(!text.includes('secret'), text);
      }
      const status = await askRaw(port, `/${verb}/../../outside`, { [TOKEN_HEADER]: TOKEN });
      assert.equal(status, 404);
    }
    assert.equal((await ask('/download/inner-link')).text, 'text');
  });

  test('what may hold secrets is neither served nor listed', async (t) => {
    const { folder, ask, client } = await aShell(t);
    const names = ['.env', 'words.defn', 'server.key', 'cert.pem', 'db-password.txt', 'api-token'];
    for (const name of names) await writeFile(join(folder, name), 'secret');
    await symlink(join(folder, '.env'), join(folder, 'innocent'));
    for (const name of [...names, 'innocent']) {
      assert.equal((await ask(`/filedata/${name}`)).status, 403, name);
      assert.equal((await ask(`/download/${name}`)).status, 403, name);
    }
    assert.deepEqual(Object.keys(await client.fileStats('.')), ['innocent', 'log-files']);
  });

  test('a part of a text ends with a whole character', async (t) => {
    const { folder, client } = await aShell(t);
    await writeFile(join(folder, 'log-files/a b.log'), 'aé€😀z');
    const parts: (string | undefined)[] = [];
    for (let offset = 0; ; ) {
      const part = await client.fileData('log-files/a b.log', { offset, length: 4 });
      assert.equal(part.offset, offset);
      if (part.length === 0) break;
      parts.push(part.data);
      offset += part.length;
    }
    assert.deepEqual(parts, ['aé', '€', '😀', 'z']);
    const end = await client.fileData('log-files/a b.log', { offset: -1 });
    assert.deepEqual(end, { offset: 11, length: 0 });
    const short = await client.fileData('log-files/a b.log', { offset: 3, length: 1 });
    assert.deepEqual([short.length, short.data], [1, '\u{fffd}'], 'it goes on anyway');
    await writeFile(join(folder, 'growing'), Buffer.from('x€').subarray(0, 3));
    assert.equal((await client.fileData('growing')).data, 'x', 'the rest is still to come');
  });

  test('ranges and large files', async (t) => {
    const { folder, client, ask } = await aShell(t);
    const large = join(folder, 'large');
    await writeFile(large, '0123456789');
    assert.equal(await textOf(await client.download('large', { offset: 2, length: 3 })), '234');
    assert.equal(await textOf(await client.download('large', { offset: 99 })), '');
    await truncate(large, 300 * 1024 * 1024);
    const before = process.memoryUsage().rss;
    let bytes = 0;
    let most = 0;
    for await (const chunk of await client.download('large')) {
      bytes += chunk.length;
      most = Math.max(most, process.memoryUsage().rss);
    }
    assert.equal(bytes, 300 * 1024 * 1024);
    assert.ok(most - before < 150 * 1024 * 1024, `${most - before} bytes more`);
    assert.equal((await client.fileData('large')).length, 1024 * 1024, 'a part has a limit');
    for (const query of ['offset=x', 'offset=-2', 'length=1e3', 'length=99999999999999999']) {
      const { status, text } = await ask(`/filedata/large?${query}`);
      assert.deepEqual([status, text.split('\n').length], [400, 1], query);
    }
  });

  test('folders are listed as by Heron', async (t) => {
    const { folder, client } = await aShell(t);
    await writeFile(join(folder, 'log-files/stmgr 1.log'), 'line\n', { mode: 0o600 });
    const stats = await client.fileStats('log-files');
    assert.deepEqual(Object.keys(stats), ['..', 'stmgr 1.log']);
    const { formatted_stat, inode, ...facts } = stats['stmgr 1.log'] ?? { formatted_stat: '' };
    assert.match(formatted_stat, /^-rw------- 1 \d+ \d+ 5 \d{4}-\d\d-\d\d \d\d:\d\d stmgr 1\.log$/);
    assert.ok('modified_at_ms' in facts && typeof inode === 'number');
    assert.deepEqual(
      { ...facts, modified_at_ms: 0 },
      { is_dir: false, path: 'log-files/stmgr%201.log', bytes: 5, modified_at_ms: 0 },
    );
    await assert.rejects(client.fileStats('none'), /There is no none in this container/);
  });
});

suite('processes', () => {
  test('a pid, by name and by pid; the executor too', async (t) => {
    const { client } = await aShell(t);
    assert.equal((await client.pid('stmgr-1')).stdout, '41');
    assert.equal((await client.pid('40')).stdout, '40');
    assert.equal((await client.pid('heron-executor-1')).stdout, '40');
    await assert.rejects(client.pid('container_1_word_2'), /does not run/);
  });

  test('wrong names and numbers are one sentence', async (t) => {
    const { ask } = await aShell(t);
    const cases = [
      ['/pid/stmgr-9', 404],
      ['/stack/..%2fx', 404],
      ['/pid/%ff', 400],
      ['/stack/stmgr-1', 503],
    ] as const;
    for (const [path, expected] of cases) {
      const { status, text } = await ask(path);
      assert.deepEqual([status, text.split('\n').length], [expected, 1], path);
    }
    for (const query of ['', '?seconds=0', '?seconds=301', '?seconds=1.5']) {
      const { status } = await ask(`/profile/stmgr-1${query}`, { method: 'POST' });
      assert.equal(status, 400, query);
    }
    const sample = await ask('/sample/stmgr-1?count=1&seconds=1', { method: 'POST' });
    assert.deepEqual(sample, { status: 400, text: 'stmgr-1 emits no tuples: only instances do' });
  });
});
