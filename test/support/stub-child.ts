import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBeating } from '../../src/net/beat-pipe.ts';

/*
  Stands in for any process of a container: it beats, listens on the ports that its flags give,
  writes its name, pid and ports to `<working folder>/started`, and ends with its standard input or
  by SIGTERM.

  `<working folder>/<name>.behaviour` makes it misbehave, `<name>.behaviour-once` for one life:
    throw            throws while it is loaded
    exit <code>      calls process.exit
    ignore-sigterm   does not end by SIGTERM, and keeps a child in another process group that
                     does not either
    hang             its only thread waits for ever once it is up
    take-port        another process listens on its port first, so that it ends with code 73
*/

/** Often enough for the shortest limit. */
const BEAT_PERIOD_MS = 100;

const { values } = parseArgs({ strict: false, args: process.argv.slice(2) });
const text = (flag: string): string => (typeof values[flag] === 'string' ? values[flag] : '');

const name = text('instance-id') || text('id') || 'heron-tmanager';
const host = text('host');
const ports = ['port', 'server-port', 'controller-port', 'data-port', 'local-data-port']
  .map((flag) => Number(text(flag)))
  .filter((port) => port > 0);
const behaviour = readBehaviour();

startBeating(BEAT_PERIOD_MS);

process.stdin.on('end', () => process.exit(0)).resume();
const [verb, argument = ''] = behaviour.split(' ');
if (verb === 'throw') throw new RangeError(argument);
if (verb === 'exit') process.exit(Number(argument));
if (verb === 'ignore-sigterm') ignoreSigterm();
else process.on('SIGTERM', () => process.exit(0));
if (verb === 'take-port') await listen(ports[0] ?? 0);
for (const port of ports) await listen(port);
appendFileSync('started', `${JSON.stringify({ name, pid: process.pid, ports })}\n`);
console.log(`${name} is up`);
if (verb === 'hang') hang();

function readBehaviour(): string {
  for (const suffix of ['behaviour-once', 'behaviour']) {
    const file = join(process.cwd(), `${name}.${suffix}`);
    if (!existsSync(file)) continue;
    const content = readFileSync(file, 'utf8').trim();
    if (suffix === 'behaviour-once') rmSync(file);
    return content;
  }
  return '';
}

function hang(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0);
}

function ignoreSigterm(): void {
  process.on('SIGTERM', () => {});
  process.stdin.removeAllListeners('end');
  setInterval(() => {}, 1_000);
  const stays = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`;
  spawn(process.execPath, ['-e', stays], { detached: true, stdio: 'ignore' }).unref();
}

function listen(port: number): Promise<void> {
  return new Promise((resolve) => {
    createServer()
      .once('error', () => process.exit(73))
      .listen({ host, port }, resolve);
  });
}
