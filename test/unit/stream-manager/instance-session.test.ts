import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { componentName, streamManagerId, taskId } from '../../../src/base/ids.ts';
import type { PacketConnection } from '../../../src/net/packet-connection.ts';
import { InstanceSession } from '../../../src/stream-manager/instance-session.ts';
import type { MessageType } from '../../../src/wire/message-type.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';
import { readTupleSet } from '../../support/tuple-sets.ts';

const plan = aPlanOf(aTopology([aSpout('word')]), ['word', 1]);
const cause = { component: componentName('slow'), streamManager: streamManagerId('stmgr-2') };

function aSession({ isForeign }: { readonly isForeign: boolean }) {
  const log: string[] = [];
  const connection = {
    pauseReading: () => log.push('pause'),
    resumeReading: () => log.push('resume'),
    send: <T>(type: MessageType<T>, value: T) => {
      const { srcTaskId, backPressure } = readTupleSet(type.encode(value));
      log.push(
        backPressure === undefined
          ? `other for ${srcTaskId}`
          : `${srcTaskId}: ${backPressure.isHeld ? `hold for ${backPressure.component}` : 'go on'}`,
      );
      return true;
    },
  };
  const [address] = plan.instances;
  assert.ok(address !== undefined && address.task === taskId(1));
  const session = new InstanceSession(
    address,
    connection as unknown as PacketConnection,
    isForeign,
  );
  return { log, session };
}

describe('InstanceSession', () => {
  it('tells an instance of this engine to hold and to go on, and never stops its socket', () => {
    const { log, session } = aSession({ isForeign: false });
    session.setHeld(cause);
    session.setBlocked(true);
    session.setBlocked(false);
    session.setHeld(undefined);
    assert.deepEqual(log, ['1: hold for slow', '1: go on']);
  });

  it('reads a foreign instance again only when neither reason to stop is left', () => {
    const { log, session } = aSession({ isForeign: true });
    session.setBlocked(true);
    session.setHeld(cause);
    session.setBlocked(false);
    assert.deepEqual(log, ['pause']);
    session.setBlocked(true);
    session.setHeld(undefined);
    assert.deepEqual(log, ['pause']);
    session.setBlocked(false);
    assert.deepEqual(log, ['pause', 'resume']);
    session.setHeld(cause);
    session.setHeld({ ...cause });
    session.setHeld(undefined);
    session.setHeld(undefined);
    assert.deepEqual(log.slice(2), ['pause', 'resume']);
  });
});
