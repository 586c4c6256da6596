import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  componentName,
  containerId,
  epoch,
  streamManagerId,
  taskId,
  topologyId,
  topologyName,
} from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { MetricsRegistry } from '../../../src/metrics/metrics-registry.ts';
import { PacketConnection } from '../../../src/net/packet-connection.ts';
import type { PeerLink } from '../../../src/stream-manager/peer-link.ts';
import { PeerLinks } from '../../../src/stream-manager/peer-links.ts';
import { encodePacket } from '../../../src/wire/frame.ts';
import { Hello, StartBackPressure } from '../../../src/wire/messages.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedNetwork, ScriptedStream } from '../../support/scripted-network.ts';
import { settled } from '../../support/settled.ts';

/* The side of a link that is dialled, up to the moment at which others hear of it. */

const own = {
  topologyName: topologyName('words'),
  topologyId: topologyId('words-1'),
  token: 'secret',
  engineVersion: '1.2.3',
};
const SLOW = {
  kind: 'start',
  task: taskId(7),
  component: componentName('slow'),
  leaseMs: 500,
} as const;
const peer = streamManagerId('stmgr-1');
const plan = {
  epoch: epoch(1),
  streamManagers: [1, 2].map((container) => ({
    id: streamManagerId(`stmgr-${container}`),
    host: 'here',
    dataPort: container,
    localDataPort: 0,
    workingDirectory: '/',
    pid: 1,
    shellPort: 0,
  })),
};

/** The links of stream manager 2; whoever links with it hears at once that a task is slow. */
function someLinks() {
  const clock = new ManualClock();
  const common = {
    clock,
    random: createSeededRandom(1),
    logger: silentLogger,
    packetBytesMax: 1_000,
  };
  const events: string[] = [];
  const links = new PeerLinks({
    ...common,
    own,
    ownId: streamManagerId('stmgr-2'),
    ownContainer: containerId(2),
    network: new ScriptedNetwork(),
    reconnectIntervalMs: 100,
    metrics: new MetricsRegistry(),
    events: {
      onLinkUp: (link: PeerLink) => {
        events.push('up');
        links.tell(link, SLOW);
      },
      onLinkDown: () => void events.push('down'),
      onStreamMessage: () => undefined,
      onPressure: () => undefined,
    },
  });
  const sayHello = (): ScriptedStream => {
    const stream = new ScriptedStream();
    const connection = new PacketConnection(stream, { ...common, handlers: links.handlers });
    assert.ok(connection.isOpen);
    const request = Hello.request.create({ ...own, stmgr: peer, planEpoch: 1n });
    const payload = Hello.request.encode(request);
    stream.feed(encodePacket(Hello.request.typeName, Buffer.alloc(32, 7), payload));
    return stream;
  };
  return { clock, links, events, sayHello };
}

async function takeTypes(stream: ScriptedStream): Promise<readonly string[]> {
  const types: string[] = [];
  await settled();
  while (stream.pendingWrites > 0) {
    types.push(...stream.take().map(({ typeName }) => typeName));
    await settled();
  }
  return types;
}

describe('a stream manager that says hello', () => {
  it('gets the answer ahead of all that there is to say when it is linked', async () => {
    const { clock, sayHello } = someLinks();
    const stream = sayHello();
    clock.runSoon();
    assert.deepEqual(await takeTypes(stream), [
      Hello.response.typeName,
      StartBackPressure.typeName,
    ]);
  });

  it('is linked for others from when they are told of it, not before', () => {
    const { clock, links, events, sayHello } = someLinks();
    sayHello();
    // A plan that comes in the same turn must not take it for one of which it has heard already.
    links.update(plan);
    assert.equal(links.linkWith(peer), undefined);
    assert.equal(links.areAllUp, false);
    assert.deepEqual(events, []);
    clock.runSoon();
    assert.equal(links.linkWith(peer)?.peer, peer);
    assert.equal(links.areAllUp, true);
    assert.deepEqual(events, ['up']);
  });

  it('and goes away in the same turn is never linked', async () => {
    const { clock, links, events, sayHello } = someLinks();
    links.update(plan);
    sayHello().hangUp();
    await settled();
    clock.runSoon();
    assert.deepEqual(events, ['down']);
    assert.equal(links.areAllUp, false);
  });

  it('again, in place of its older link, is linked anew', () => {
    const { clock, links, events, sayHello } = someLinks();
    links.update(plan);
    sayHello();
    clock.runSoon();
    const older = links.linkWith(peer);
    sayHello();
    assert.equal(links.linkWith(peer), undefined);
    clock.runSoon();
    assert.notEqual(links.linkWith(peer), older);
    assert.deepEqual(events, ['up', 'down', 'up']);
  });
});
