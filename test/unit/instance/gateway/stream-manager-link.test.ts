import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertDefined } from '../../../../src/base/assert.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { StreamManagerLink } from '../../../../src/instance/gateway/stream-manager-link.ts';
import { encodePacket, NO_REQUEST_ID } from '../../../../src/wire/frame.ts';
import { LinkBeat, RegisterInstance, StatusCode } from '../../../../src/wire/messages.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { ScriptedNetwork, ScriptedStream } from '../../../support/scripted-network.ts';
import { settled } from '../../../support/settled.ts';
import { anIdentity } from '../../../support/task-in-test.ts';

const SILENCE_MS = 10_000;
const BEAT = encodePacket(LinkBeat.typeName, NO_REQUEST_ID, Buffer.alloc(0));

/** The link of an instance that has registered with a stream manager which beats, or does not. */
async function registered({ beats }: { readonly beats: boolean }) {
  const clock = new ManualClock();
  const network = new ScriptedNetwork();
  const events: string[] = [];
  const link = new StreamManagerLink({
    identity: anIdentity('middle', 3),
    token: 'secret',
    process: { bootId: 'boot', pid: 1, startTicks: 7 },
    network,
    clock,
    random: createSeededRandom(1),
    logger: silentLogger,
    packetBytesMax: 1_000_000,
    reconnectMs: 100,
    silenceMs: SILENCE_MS,
    creditBytes: 1_000,
    hasEnded: () => false,
    onPlan: () => undefined,
    onConnected: () => void events.push('up'),
    onEndedBefore: () => undefined,
    onDisconnected: () => void events.push('down'),
    onReplaced: () => undefined,
    onSet: () => undefined,
  });
  link.start();
  const stream = new ScriptedStream();
  assertDefined(network.dials[0], 'it dials').accept(stream);
  await settled();
  const [request] = stream.take();
  assert.ok(request !== undefined);
  const { response } = RegisterInstance;
  const answer = response.create({
    status: { status: StatusCode.OK },
    creditBytes: 1_000n,
    ...(beats && { beats }),
  });
  stream.feed(encodePacket(response.typeName, request.requestId, response.encode(answer)));
  await settled();
  assert.deepEqual(events, ['up']);
  const sent = RegisterInstance.request.decode(Buffer.from(request.payload, 'latin1'));
  return { clock, network, link, stream, events, sent };
}

describe('the link of an instance with its stream manager', () => {
  it('promises to say that the instance lives, and does', async () => {
    const { clock, stream, sent } = await registered({ beats: true });
    assert.ok(sent.beats);
    clock.advance(SILENCE_MS / 2);
    await settled();
    assert.deepEqual(
      stream.take().map(({ typeName }) => typeName),
      [LinkBeat.typeName],
    );
  });

  it('is made anew when the stream manager has gone silent', async () => {
    const { clock, stream, events, network } = await registered({ beats: true });
    clock.advance(SILENCE_MS - 1_000);
    stream.feed(BEAT);
    clock.advance(SILENCE_MS - 1_000);
    assert.deepEqual(events, ['up']);
    clock.advance(3_000);
    assert.deepEqual(events, ['up', 'down']);
    clock.advance(1_000);
    assert.equal(network.dials.length, 2);
  });

  it("stays with a stream manager of Heron's, which promises nothing", async () => {
    const { clock, stream, events } = await registered({ beats: false });
    clock.advance(SILENCE_MS * 10);
    await settled();
    assert.deepEqual(events, ['up']);
    assert.deepEqual(stream.take(), []);
  });

  it('leaves no timer behind when it is closed', async () => {
    const { clock, link } = await registered({ beats: true });
    link.close();
    clock.advance(2_000); // What lingers.
    assert.equal(clock.pendingTimers, 0);
  });
});
