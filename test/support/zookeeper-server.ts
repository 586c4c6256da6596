/*
  Real ZooKeeper servers, as Debian packages them, on free ports of this machine.

    const zookeeper = sharedZooKeeper();
    describe('…', { skip: withoutZooKeeper() }, () => {
      it('…', async (t) => { const server = await zookeeper(); … });
    });
*/

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync } from 'node:fs';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, type TestContext } from 'node:test';
import { createSystemRandom } from '../../src/base/random.ts';
import type { Address } from '../../src/net/network.ts';
import { eventually } from './eventually.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Whatever runs something at the end: a test, or the whole file. */
export type Cleanup = Pick<TestContext, 'after'>;

export interface ZooKeeperServerOptions {
  /** Sessions last 2 ticks at least. */
  readonly tickMs?: number;
  /** Further lines of the server's configuration. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Java's system properties. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Opens a second port for TLS, on which clients must show a certificate. */
  readonly tls?: {
    /** Certificate and key in one PEM file. */
    readonly identityFile: string;
    /** Who signs the certificates of clients. */
    readonly authorityFile: string;
  };
}

const JARS = '/usr/share/java';
const JAR = join(JARS, 'zookeeper.jar');
/**
 * What the package of ZooKeeper brings along and its own jar does not name: for its log, and for
 * the connections that can do TLS.
 */
const FURTHER_JARS = [
  'slf4j-simple',
  'netty-codec',
  'netty-resolver',
  'netty-transport-native-unix-common',
];
const CLASS_PATH = [JAR, ...FURTHER_JARS.map((name) => join(JARS, `${name}.jar`))].join(delimiter);
const TICK_MS = 250;
/** What starts soonest on few cores. */
const JVM_OPTIONS = ['-Xmx96m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData'];
/** A JVM on a machine that does much else: one took 25 s where 30 processes wanted 2 cores. */
const START_LIMIT_MS = 60_000;
const READY_PAUSE_MS = 20;
/**
 * Below the ports that Linux gives to outgoing connections: the port of a server that is down for a
 * while must not be taken by one.
 */
const PORT_MIN = 20_000;
const PORT_MAX = 32_000;

/**
 * Why tests that need ZooKeeper are left out, for their `skip`; false where it is installed.
 *
 * @throws in continuous integration, which has to install it (`.ci/run`).
 */
export function withoutZooKeeper(): string | false {
  const programs = ['java', 'openssl'].map(programIn);
  if (existsSync(JAR) && !programs.includes(undefined)) return false;
  const advice = 'apt-get install --no-install-recommends zookeeper default-jre-headless openssl';
  assert.notEqual(process.env['CI'], 'true', `ZooKeeper is missing: ${advice}`);
  return `ZooKeeper is not installed (${advice})`;
}

/** One server for all tests of a file, started by the first that asks for it. */
export function sharedZooKeeper(
  prepare?: (t: Cleanup) => Promise<ZooKeeperServerOptions>,
): () => Promise<ZooKeeperServer> {
  let server: Promise<ZooKeeperServer> | undefined;
  const ends: (() => unknown)[] = [];
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });
  const cleanup = { after: (end: () => unknown) => void ends.push(end) } as Cleanup;
  return () => {
    server ??= (async () => ZooKeeperServer.start(cleanup, await prepare?.(cleanup)))();
    return server;
  };
}

interface ServerPlan {
  readonly folder: string;
  readonly port: number;
  readonly securePort: number;
  readonly options: ZooKeeperServerOptions;
  /** Lines that only a member of an ensemble has. */
  readonly members: readonly string[];
  readonly id: number;
}

export class ZooKeeperServer {
  readonly port: number;
  /** Listens when the options say `tls`. */
  readonly securePort: number;
  readonly #plan: ServerPlan;
  #child: ChildProcess | undefined;

  /** A server that stands alone, ready to serve; it ends with `t`, and leaves nothing. */
  static async start(t: Cleanup, options: ZooKeeperServerOptions = {}): Promise<ZooKeeperServer> {
    const { path: folder } = await temporaryFolder(t as TestContext);
    const [port = 0, securePort = 0] = await freePorts(2);
    const plan = { folder, port, securePort, options, members: [], id: 1 };
    const server = new ZooKeeperServer(plan);
    t.after(() => server.kill());
    await server.launch();
    await server.untilReady();
    return server;
  }

  constructor(plan: ServerPlan) {
    this.port = plan.port;
    this.securePort = plan.securePort;
    this.#plan = plan;
  }

  get address(): Address {
    return { host: '127.0.0.1', port: this.port };
  }

  /** Starts the process on the data that is there; `untilReady` says when it serves. */
  async launch(): Promise<void> {
    assert.equal(this.#child, undefined, 'the server runs');
    const { folder, id, options } = this.#plan;
    await mkdir(join(folder, 'data'), { recursive: true });
    await writeFile(join(folder, 'data', 'myid'), `${id}\n`);
    await writeFile(join(folder, 'zoo.cfg'), this.#configuration());
    const properties = Object.entries(options.properties ?? {});
    const log = await open(join(folder, 'log'), 'a');
    const [program = '', ...first] = dyingWithUs('java');
    this.#child = spawn(
      program,
      [
        ...first,
        ...JVM_OPTIONS,
        ...properties.map(([name, value]) => `-D${name}=${value}`),
        '-cp',
        CLASS_PATH,
        'org.apache.zookeeper.server.quorum.QuorumPeerMain',
        join(folder, 'zoo.cfg'),
      ],
      { stdio: ['ignore', log.fd, log.fd] },
    );
    await log.close();
  }

  /** Waits until the server serves: a member of an ensemble does with a majority only. */
  async untilReady(): Promise<void> {
    try {
      await eventually(() => this.mode().then(() => undefined), {
        timeoutMs: START_LIMIT_MS,
        pauseMs: READY_PAUSE_MS,
      });
    } catch (cause) {
      const log = await readFile(join(this.#plan.folder, 'log'), 'utf8');
      throw new Error(`ZooKeeper does not serve; its log ends:\n${log.slice(-4000)}`, { cause });
    }
  }

  /** What the server is now; rejects while it does not serve. */
  async mode(): Promise<string> {
    assert.ok(this.#child?.exitCode === null, 'the server does not run');
    assert.equal(await this.#ask('ruok'), 'imok');
    const mode = /^Mode: (\w+)$/m.exec(await this.#ask('srvr'))?.[1];
    assert.ok(mode, 'the server has no mode yet');
    return mode;
  }

  /** The sessions that are connected with this server. */
  async sessions(): Promise<readonly bigint[]> {
    const found = (await this.#ask('cons')).matchAll(/sid=(0x[0-9a-f]+)/g);
    return [...found].map(([, id = '0']) => BigInt(id));
  }

  /** SIGSTOP: its connections stay, and say nothing. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  /** SIGCONT. */
  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** SIGKILL; resolves when it is dead. Its data stays. Idempotent. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  /** Starts it again after `kill`. */
  async restart(): Promise<void> {
    await this.launch();
    await this.untilReady();
  }

  /** After `kill`: its disk is as new. */
  async wipe(): Promise<void> {
    await rm(join(this.#plan.folder, 'data'), { recursive: true });
  }

  #configuration(): string {
    const { folder, port, options, members } = this.#plan;
    const { tickMs = TICK_MS, settings = {} } = options;
    const lines = {
      tickTime: tickMs,
      initLimit: 20,
      syncLimit: 10,
      dataDir: join(folder, 'data'),
      clientPort: port,
      clientPortAddress: '127.0.0.1',
      maxSessionTimeout: 60_000,
      maxClientCnxns: 0,
      'admin.enableServer': 'false',
      '4lw.commands.whitelist': 'ruok,srvr,cons',
      ...this.#secureSettings(),
      ...settings,
    };
    const entries = Object.entries(lines).map(([name, value]) => `${name}=${value}`);
    return `${[...entries, ...members].join('\n')}\n`;
  }

  #secureSettings(): Readonly<Record<string, string | number>> {
    const { tls } = this.#plan.options;
    if (tls === undefined) return {};
    return {
      serverCnxnFactory: 'org.apache.zookeeper.server.NettyServerCnxnFactory',
      secureClientPort: this.securePort,
      secureClientPortAddress: '127.0.0.1',
      'ssl.keyStore.type': 'PEM',
      'ssl.keyStore.location': tls.identityFile,
      'ssl.trustStore.type': 'PEM',
      'ssl.trustStore.location': tls.authorityFile,
      'ssl.clientAuth': 'need',
    };
  }

  /** One of ZooKeeper's commands of four letters. */
  async #ask(command: string): Promise<string> {
    const socket = connect({ host: '127.0.0.1', port: this.port });
    socket.setTimeout(1_000, () => socket.destroy(new Error(`no answer to ${command}`)));
    socket.end(command);
    return text(socket);
  }
}

/** Three servers that stand for one. */
export class ZooKeeperEnsemble {
  readonly servers: readonly ZooKeeperServer[];

  static async start(t: Cleanup, options: ZooKeeperServerOptions = {}): Promise<ZooKeeperEnsemble> {
    const { path } = await temporaryFolder(t as TestContext);
    const ports = await freePorts(9);
    const portAt = (index: number): number => ports[index] ?? 0;
    const members = [1, 2, 3].map(
      (id) => `server.${id}=127.0.0.1:${portAt(id * 2 + 1)}:${portAt(id * 2 + 2)}`,
    );
    const servers = [1, 2, 3].map((id) => {
      const folder = join(path, String(id));
      const port = portAt(id - 1);
      return new ZooKeeperServer({ folder, port, securePort: 0, options, members, id });
    });
    t.after(() => Promise.all(servers.map((server) => server.kill())));
    await Promise.all(servers.map((server) => server.launch()));
    await Promise.all(servers.map((server) => server.untilReady()));
    return new ZooKeeperEnsemble(servers);
  }

  private constructor(servers: readonly ZooKeeperServer[]) {
    this.servers = servers;
  }

  get addresses(): readonly Address[] {
    return this.servers.map(({ address }) => address);
  }

  /** Waits until all three serve and one of them leads. */
  leader(): Promise<ZooKeeperServer> {
    const find = async (): Promise<ZooKeeperServer> => {
      const modes = await Promise.all(this.servers.map((server) => server.mode()));
      const leader = this.servers[modes.indexOf('leader')];
      assert.ok(leader, `one of three servers leads, not ${modes.join(', ')}`);
      return leader;
    };
    return eventually(find, { timeoutMs: START_LIMIT_MS, pauseMs: READY_PAUSE_MS });
  }
}

function programIn(name: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => isExecutable(file));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The kernel ends it with this process, whatever ends this one. */
function dyingWithUs(program: string): readonly string[] {
  const setpriv = programIn('setpriv');
  return setpriv === undefined ? [program] : [setpriv, '--pdeathsig', 'KILL', program];
}

async function freePorts(count: number): Promise<readonly number[]> {
  const random = createSystemRandom();
  const ports: number[] = [];
  while (ports.length < count) {
    const port = PORT_MIN + random.below(PORT_MAX - PORT_MIN);
    if (!ports.includes(port) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ host: '127.0.0.1', port });
    await once(server, 'listening');
    return true;
  } catch {
    return false; // Somebody else listens there.
  } finally {
    server.close();
  }
}
