import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { createReadStream, existsSync, readFile, readFileSync, writeFileSync } from 'node:fs';
import { open, readFile as readFilePromise } from 'node:fs/promises';
import { get } from 'node:http';
import { connect, createServer } from 'node:net';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { BasicBolt, type Tuple } from '../../../src/api/index.ts';
import { type RealAccess, testBolt } from '../../../src/testing/index.ts';

const THIS_FILE = import.meta.filename;

/** Calls whatever the test wants called, and emits what comes of it with the simulated time. */
class Calling extends BasicBolt.of({ default: ['result', 'atMs'] }) {
  readonly #call: () => unknown;

  constructor(call: () => unknown) {
    super();
    this.#call = call;
  }

  async execute(_tuple: Tuple<{ start: string }>): Promise<void> {
    this.emit([await this.#call(), Math.round(performance.now())]);
  }
}

async function calling(call: () => unknown, allow: readonly RealAccess[] = []) {
  await using bolt = await testBolt(() => new Calling(call), { input: ['start'], allow });
  await bolt.send({ start: 'now' });
  const [output] = bolt.outputs();
  return { output, reason: String(bolt.failed[0]?.reason) };
}

const REFUSED: Readonly<Record<string, () => unknown>> = {
  fetch: () => fetch('http://127.0.0.1:1/'),
  'new WebSocket': () => new WebSocket('ws://127.0.0.1:1/'),
  'a request': () => get('http://127.0.0.1:1/'),
  'a connection': () => connect(1, '127.0.0.1'),
  'a server': () => createServer().listen(0),
  'a datagram': () => createSocket('udp4').send('x', 1, '127.0.0.1'),
  'a look-up': () => lookup('localhost'),
  spawn: () => spawn('true'),
  execFile: () => execFile('true'),
  execFileSync: () => execFileSync('true'),
  'new Worker': () => new Worker('0', { eval: true }),
  'process.exit': () => process.exit(3),
  'process.kill': () => process.kill(process.pid, 0),
  'readFile by callback': () => readFile(THIS_FILE, () => {}),
  'readFile by promise': () => readFilePromise(THIS_FILE),
  writeFileSync: () => writeFileSync('/nowhere/at/all', ''),
  'a stream': () => createReadStream(THIS_FILE),
};

describe('real access from a component in test', () => {
  for (const [name, call] of Object.entries(REFUSED)) {
    it(`refuses ${name}`, async () => {
      const { reason } = await calling(call);
      assert.match(reason, /'bolt' \(task 0\) called .* reaches out of the simulation: /);
    });
  }

  it('says how to allow it, or what to do instead', async () => {
    const fetching = await calling(() => fetch('http://127.0.0.1:1/'));
    assert.match(fetching.reason, /called fetch, .* allow it with \{ allow: \['fetch'\] \}$/);
    const reading = await calling(() => readFilePromise(THIS_FILE));
    assert.match(
      reading.reason,
      /called readFile \(node:fs\/promises\), .*\{ allow: \['files'\] \}$/,
    );
    const exiting = await calling(() => process.exit(3));
    assert.match(exiting.reason, /throw an error to end the instance$/);
  });

  it('lets files be looked at by the functions that answer at once', async () => {
    const { output } = await calling(() => existsSync(THIS_FILE) && readFileSync(THIS_FILE).length);
    assert.equal(output?.result, readFileSync(THIS_FILE).length);
  });

  it('does not refuse anything to the test itself meanwhile', async () => {
    await using bolt = await testBolt(() => new Calling(() => 1), { input: ['start'] });
    const sending = bolt.send({ start: 'now' });
    const [text] = await Promise.all([readFilePromise(THIS_FILE, 'utf8'), sending]);
    assert.match(text, /meanwhile/);
  });

  it('waits for files that are allowed, while simulated time stands still', async () => {
    const length = readFileSync(THIS_FILE).length;
    const ways: (() => Promise<number>)[] = [
      async () => (await readFilePromise(THIS_FILE)).length,
      () =>
        new Promise((resolve, reject) => {
          readFile(THIS_FILE, (error, data) => (error ? reject(error) : resolve(data.length)));
        }),
      async () => {
        await using handle = await open(THIS_FILE);
        return (await handle.readFile()).length;
      },
      async () => {
        let bytes = 0;
        for await (const chunk of createReadStream(THIS_FILE)) bytes += (chunk as Buffer).length;
        return bytes;
      },
    ];
    for (const way of ways) {
      const { output, reason } = await calling(way, ['files']);
      assert.deepEqual(output, { result: length, atMs: 0 }, reason);
    }
  });

  it('passes on the errors of what is allowed', async () => {
    const { reason } = await calling(() => readFilePromise('/nowhere/at/all'), ['files']);
    assert.match(reason, /ENOENT/);
  });

  it('waits for an answer that is allowed to be fetched, with its body', async () => {
    const real = globalThis.fetch;
    globalThis.fetch = async () => {
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
      return Response.json({ answer: 42 }, { status: 201 });
    };
    try {
      const call = async (): Promise<unknown> => {
        const response = await fetch('http://service.test/');
        return [response.status, await response.json()];
      };
      const { output } = await calling(call, ['fetch']);
      assert.deepEqual(output, { result: [201, { answer: 42 }], atMs: 0 });
    } finally {
      globalThis.fetch = real;
    }
  });
});
