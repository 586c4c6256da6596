import assert from 'node:assert/strict';
import { silentLogger } from '../../src/base/logger.ts';
import { createSeededRandom } from '../../src/base/random.ts';
import { Chroot } from '../../src/state-manager/zookeeper/chroot.ts';
import { FrameReader } from '../../src/state-manager/zookeeper/frame-reader.ts';
import { JuteReader } from '../../src/state-manager/zookeeper/jute-reader.ts';
import { JuteWriter } from '../../src/state-manager/zookeeper/jute-writer.ts';
import {
  ZooKeeperSession,
  type ZooKeeperSessionOptions,
} from '../../src/state-manager/zookeeper/zookeeper-session.ts';
import { ManualClock } from './manual-clock.ts';
import { type Dial, ScriptedNetwork, ScriptedStream } from './scripted-network.ts';

export const SESSION_MS = 3_000;

/** The numbers that a server gives to a session. */
const GRANT = { sessionTimeoutMs: SESSION_MS, sessionId: 7n, password: Buffer.alloc(16, 0xab) };

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What came from the client: a request by its numbers, its body unread. */
export interface SeenRequest {
  readonly xid: number;
  readonly code: number;
  readonly body: JuteReader;
}

/** The server's end of one connection; the test says what it does. */
export class ScriptedServer {
  readonly stream = new ScriptedStream('server:2181');
  readonly #frames = new FrameReader(16 * 1024 * 1024);

  /** The first words of a client. */
  takeConnect() {
    const [body] = this.#takeFrames();
    assert.ok(body, 'the client has not said who it is');
    const connect = {
      protocol: body.int(),
      lastZxid: body.long(),
      sessionTimeoutMs: body.int(),
      sessionId: body.long(),
      password: Buffer.from(body.buffer()).toString('hex'),
      isReadOnly: body.boolean(),
    };
    return connect;
  }

  take(): readonly SeenRequest[] {
    return this.#takeFrames().map((body) => ({ xid: body.int(), code: body.int(), body }));
  }

  grant(grant: Partial<typeof GRANT> = {}): void {
    const { sessionTimeoutMs, sessionId, password } = { ...GRANT, ...grant };
    const accept = new JuteWriter().int(0).int(sessionTimeoutMs).long(sessionId);
    this.stream.feed(accept.buffer(password).boolean(false).frame());
  }

  answer(
    xid: number,
    {
      zxid = 1n,
      error = 0,
      body,
    }: { zxid?: bigint; error?: number; body?: (to: JuteWriter) => void },
  ): void {
    const answer = new JuteWriter().int(xid).long(zxid).int(error);
    body?.(answer);
    this.stream.feed(answer.frame());
  }

  tell(type: number, path: string): void {
    const body = (to: JuteWriter): void => void to.int(type).int(3).string(path);
    this.answer(-1, { zxid: -1n, body });
  }

  #takeFrames(): readonly JuteReader[] {
    const frames: JuteReader[] = [];
    this.#frames.feed(this.stream.takeBytes(), (frame) => {
      frames.push(new JuteReader(frame));
      return true;
    });
    return frames;
  }
}

/** A session on a network and a clock that the test moves, and what its owner hears. */
export function aSession(options: Partial<ZooKeeperSessionOptions> = {}) {
  const network = new ScriptedNetwork();
  const clock = new ManualClock();
  const heard: string[] = [];
  const session = new ZooKeeperSession(
    {
      servers: [{ host: 'one', port: 1 }],
      sessionTimeoutMs: SESSION_MS,
      requestTimeoutMs: 10_000,
      network,
      clock,
      // The longest pauses, and servers in the order in which they are given.
      random: { ...createSeededRandom(1), below: (limit) => (limit === 1024 ? 0 : limit - 1) },
      logger: silentLogger,
      onConnected: () => void heard.push('connected'),
      onSuspended: ({ code }) => void heard.push(`suspended ${code}`),
      onLost: ({ reason }) => void heard.push(`lost ${reason}`),
      ...options,
    },
    new Chroot(),
  );
  /** The newest dial is answered; what the client says first can be taken. */
  const accept = async (): Promise<ScriptedServer> => {
    const server = new ScriptedServer();
    lastDial(network).accept(server.stream);
    await turn();
    return server;
  };
  const connect = async (): Promise<ScriptedServer> => {
    const server = await accept();
    server.takeConnect();
    server.grant();
    await turn();
    return server;
  };
  return { session, network, clock, heard, accept, connect };
}

export function lastDial(network: ScriptedNetwork): Dial {
  const dial = network.dials.at(-1);
  assert.ok(dial, 'nobody was dialled');
  return dial;
}
