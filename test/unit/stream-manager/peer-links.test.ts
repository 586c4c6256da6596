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
import { LinkWatch } from '../../../src/supervision/link-watch.ts';
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

const SILENCE_MS = 10_000;

/** The links of stream manager 2; whoever links with it hears at once that a task is slow. */
function someLinks() {
  const clock = new ManualClock();
  const log: string[] = [];
  const write = (message: string): void => void log.push(message);
  const common = {
    clock,
    random: createSeededRandom(1),
    logger: { ...silentLogger, info: write, warn: write },
    packetBytesMax: 1_000,
  };
  const events: string[] = [];
  const network = new ScriptedNetwork();
  const links = new PeerLinks({
    ...common,
    own,
    ownId: streamManagerId('stmgr-2'),
    ownContainer: containerId(2),
    network,
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
    watch: new LinkWatch(clock, SILENCE_MS),
  });
  const sayHello = (planEpoch = 1n): ScriptedStream => {
    const stream = new ScriptedStream();
    const connection = new PacketConnection(stream, { ...common, handlers: links.handlers });
    assert.ok(connection.isOpen);
    const request = Hello.request.create({ ...own, stmgr: peer, planEpoch });
    const payload = Hello.request.encode(request);
    stream.feed(encodePacket(Hello.request.typeName, Buffer.alloc(32, 7), payload));
    return stream;
  };
  return { clock, links, events, log, network, sayHello };
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

describe('a stream manager that leaves the plan', () => {
  const without = { epoch: epoch(2), streamManagers: plan.streamManagers.slice(1) };
  const PARTING_MS = 10_000;

  it('keeps its link until it ends it, and is lost to nobody', async () => {
    const { clock, links, events, log, sayHello } = someLinks();
    links.update(plan);
    const stream = sayHello();
    clock.runSoon();
    links.update(without);
    assert.equal(links.linkWith(peer)?.connection.isOpen, true);
    clock.advance(PARTING_MS / 2);
    assert.ok(links.linkWith(peer)?.connection.isOpen);
    stream.hangUp();
    await settled();
    assert.deepEqual(events, ['up', 'down']);
    assert.ok(log.includes('a stream manager has left'));
    assert.ok(!log.includes('lost a stream manager'));
    assert.equal(clock.pendingTimers, 0);
  });

  it('and does not end its link loses it after a while', () => {
    const { clock, links, events, sayHello } = someLinks();
    links.update(plan);
    sayHello();
    clock.runSoon();
    links.update(without);
    clock.advance(PARTING_MS);
    assert.equal(links.linkWith(peer), undefined);
    assert.deepEqual(events, ['up', 'down']);
  });

  it('only by a plan that is older than its own keeps its link: it is in the newer one', () => {
    const { clock, links, sayHello } = someLinks();
    sayHello(3n);
    clock.runSoon();
    links.update(without);
    clock.advance(2 * PARTING_MS);
    assert.ok(links.linkWith(peer)?.connection.isOpen);
    links.update({ ...plan, epoch: epoch(3) });
    assert.equal(links.areAllUp, true);
  });

  it('and is in the next plan again, as another process, has to connect anew', () => {
    const { clock, links, events, sayHello } = someLinks();
    links.update(plan);
    sayHello();
    clock.runSoon();
    links.update(without);
    links.update({ ...plan, epoch: epoch(3) });
    assert.equal(links.linkWith(peer), undefined);
    assert.equal(links.areAllUp, false);
    sayHello(3n);
    clock.runSoon();
    assert.deepEqual(events, ['up', 'down', 'up']);
    assert.equal(links.areAllUp, true);
  });

  it('is dialled no more, neither when its link ends nor when it had none', async () => {
    const { clock, links, network } = someLinks();
    const third = { ...plan.streamManagers[0], id: streamManagerId('stmgr-3') };
    const three = {
      epoch: epoch(1),
      streamManagers: [...plan.streamManagers, third],
    } as typeof plan;
    links.update(three);
    assert.equal(network.dials.length, 1);
    network.dials[0]?.refuse();
    await settled();
    links.update({ ...plan, epoch: epoch(2) });
    clock.advance(60_000);
    assert.equal(network.dials.length, 1);
  });

  it('is this one itself: it ends no link and dials nobody any more', async () => {
    const { clock, links, network, sayHello } = someLinks();
    links.update(plan);
    const stream = sayHello();
    clock.runSoon();
    links.leave();
    clock.advance(2 * PARTING_MS);
    assert.ok(links.linkWith(peer)?.connection.isOpen);
    assert.equal(network.dials.length, 0);
    stream.hangUp();
    await settled();
    assert.equal(clock.pendingTimers, 0);
  });
});
