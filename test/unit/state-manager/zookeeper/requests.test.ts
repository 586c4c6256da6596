import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { environmentError, hasCode } from '../../../../src/base/errors.ts';
import { JuteReader } from '../../../../src/state-manager/zookeeper/jute-reader.ts';
import { JuteWriter } from '../../../../src/state-manager/zookeeper/jute-writer.ts';
import {
  exists,
  getChildren,
  multi,
  setData,
  sync,
} from '../../../../src/state-manager/zookeeper/operations.ts';
import { Requests } from '../../../../src/state-manager/zookeeper/requests.ts';
import {
  hasReason,
  ZooKeeperError,
} from '../../../../src/state-manager/zookeeper/zookeeper-error.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { turn } from '../../../support/scripted-zookeeper.ts';

function someRequests() {
  const clock = new ManualClock();
  const whyNone = environmentError('CONNECTION_REFUSED', 'nobody listens there');
  const requests = new Requests(clock, 1_000, () => whyNone);
  const sent: number[] = [];
  const send = (): void => {
    requests.sendWaiting((frame) => sent.push(Buffer.from(frame).readInt32BE(4)));
  };
  return { clock, requests, sent, send };
}

const ok = (xid: number) => ({ xid, zxid: 1n, error: 0 });
const body = (write: (to: JuteWriter) => void = () => undefined): JuteReader => {
  const writer = new JuteWriter();
  write(writer);
  return new JuteReader(Buffer.from(writer.frame().subarray(4)));
};

/** What becomes of a promise, as text. */
function outcome(promise: Promise<unknown>): { text: string } {
  const seen = { text: 'open' };
  promise.then(
    () => (seen.text = 'done'),
    (error: unknown) => {
      assert.ok(error instanceof ZooKeeperError);
      seen.text = `${error.reason}${error.isUncertain ? ' uncertain' : ''}`;
    },
  );
  return seen;
}

describe('requests', () => {
  test('are sent in their order, and answered so', async () => {
    const { requests, sent, send } = someRequests();
    const seen = [1, 2, 3].map((index) => outcome(requests.add(sync(`/${index}`))));
    send();
    assert.deepEqual(sent, [1, 2, 3]);
    requests.settle(ok(1), body());
    requests.settle({ xid: 2, zxid: 0n, error: -103 }, body());
    await turn();
    assert.deepEqual(
      seen.map(({ text }) => text),
      ['done', 'BAD_VERSION', 'open'],
    );
    assert.throws(
      () => requests.settle(ok(2), body()),
      (error) => hasCode(error, 'PACKET_MALFORMED'),
    );
    requests.settle(ok(3), body());
    assert.throws(
      () => requests.settle(ok(4), body()),
      (error) => hasCode(error, 'PACKET_MALFORMED'),
    );
  });

  test('that nobody sent in time were not carried out, and say why', async () => {
    const { clock, requests, sent, send } = someRequests();
    const asked = requests.add(sync('/a'));
    const seen = outcome(asked);
    clock.advance(400);
    const later = outcome(requests.add(sync('/b')));
    clock.advance(599);
    await turn();
    assert.equal(seen.text, 'open');
    clock.advance(1);
    await turn();
    assert.deepEqual([seen.text, later.text], ['TIMED_OUT', 'open']);
    await assert.rejects(asked, /\/a: no answer in time \(1000 ms: nobody listens there\)/);
    send();
    assert.deepEqual(sent, [2]);
  });

  test('that were sent may have been carried out, and keep their place', async () => {
    const { clock, requests, send } = someRequests();
    const late = outcome(requests.add(sync('/a')));
    send();
    clock.advance(1_000);
    const next = outcome(requests.add(sync('/b')));
    send();
    await turn();
    assert.equal(late.text, 'TIMED_OUT uncertain');
    requests.settle(ok(1), body());
    requests.settle(ok(2), body());
    await turn();
    assert.equal(next.text, 'done');
    assert.equal(clock.pendingTimers, 0);
  });

  test('that were sent fail with the connection; what waits goes on waiting', async () => {
    const { requests, sent, send } = someRequests();
    const first = outcome(requests.add(sync('/a')));
    send();
    const second = outcome(requests.add(sync('/b')));
    requests.failSent(new Error('cut'));
    await turn();
    assert.deepEqual([first.text, second.text], ['CONNECTION_LOST uncertain', 'open']);
    send();
    assert.deepEqual(sent, [1, 2]);
    requests.settle(ok(2), body());
    await turn();
    assert.equal(second.text, 'done');
  });

  test('all fail at the end, and leave no timer', async () => {
    const { clock, requests, send } = someRequests();
    const first = outcome(requests.add(sync('/a')));
    send();
    const second = outcome(requests.add(sync('/b')));
    requests.failEverything('CLOSED');
    await turn();
    assert.deepEqual([first.text, second.text], ['CLOSED uncertain', 'CLOSED']);
    assert.equal(clock.pendingTimers, 0);
  });

  test('are bounded in number, bytes and size', async () => {
    const { requests, send } = someRequests();
    const isFull = (error: unknown): boolean => hasReason(error, 'QUEUE_FULL') && error.retryable;
    for (let index = 0; index < 20_000; index += 1) {
      outcome(requests.add(sync('/a')));
      if (index === 10_000) send();
    }
    await assert.rejects(requests.add(sync('/a')), isFull);
    const { requests: large } = someRequests();
    for (let index = 0; index < 64; index += 1)
      outcome(large.add(setData('/a', new Uint8Array(1_048_000))));
    await assert.rejects(large.add(setData('/a', new Uint8Array(1_048_000))), isFull);
    await assert.rejects(
      large.add(setData('/a', new Uint8Array(1_048_560))),
      (error) => hasReason(error, 'TOO_LARGE') && hasCode(error, 'PACKET_TOO_LARGE'),
    );
  });

  test('tell what was found before the next answer is read', () => {
    const { requests, send } = someRequests();
    const found: string[] = [];
    outcome(requests.add(getChildren('/a', true), (what) => found.push(`a ${what}`)));
    outcome(requests.add(exists('/b', true), (what) => found.push(`b ${what}`)));
    outcome(requests.add(exists('/c', true), (what) => found.push(`c ${what}`)));
    send();
    requests.settle(
      ok(1),
      body((to) => void to.int(0)),
    );
    requests.settle({ xid: 2, zxid: 1n, error: -101 }, body());
    requests.settle({ xid: 3, zxid: 1n, error: -102 }, body());
    assert.deepEqual(found, ['a found', 'b not-found']);
  });

  test('whose answer does not decode fail with the connection', async () => {
    const { requests, send } = someRequests();
    const asked = outcome(requests.add(getChildren('/a', false)));
    send();
    const short = body((to) => void to.int(3));
    assert.throws(
      () => requests.settle(ok(1), short),
      (error) => hasCode(error, 'PACKET_MALFORMED'),
    );
    requests.failSent(undefined);
    await turn();
    assert.equal(asked.text, 'CONNECTION_LOST uncertain');
  });

  test('for several changes fail by the first that was refused', async () => {
    const { requests, send } = someRequests();
    const access = [] as const;
    const parts = [
      { kind: 'delete', path: '/a', access },
      { kind: 'check', path: '/b', version: 3, access },
      { kind: 'delete', path: '/c', access },
    ] as const;
    const asked = requests.add(multi(parts));
    send();
    const results = body((to) => {
      for (const error of [0, -103, -2]) to.int(-1).boolean(false).int(error).int(error);
      to.int(-1).boolean(true).int(-1);
    });
    requests.settle(ok(1), results);
    await assert.rejects(asked, (error) => {
      return hasReason(error, 'BAD_VERSION') && error.message.includes('/b:');
    });
    const more = outcome(requests.add(multi(parts.slice(0, 1))));
    send();
    const tooMany = body((to) => {
      for (const code of [2, 2]) to.int(code).boolean(false).int(0);
    });
    assert.throws(
      () => requests.settle(ok(2), tooMany),
      (error) => hasCode(error, 'PACKET_MALFORMED'),
    );
    assert.equal(more.text, 'open');
  });
});
