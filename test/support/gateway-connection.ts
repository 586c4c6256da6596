import { silentLogger } from '../../src/base/logger.ts';
import { createSeededRandom } from '../../src/base/random.ts';
import { MessageHandlers } from '../../src/net/message-handlers.ts';
import { PacketConnection } from '../../src/net/packet-connection.ts';
import { ManualClock } from './manual-clock.ts';
import { ScriptedStream } from './scripted-network.ts';
import { settled } from './settled.ts';
import { setText } from './task-in-test.ts';
import { controlTexts, readTupleSet } from './tuple-sets.ts';

/** An instance's connection with a stream manager that is the test. */
export class GatewayConnection {
  readonly stream = new ScriptedStream();
  readonly connection: PacketConnection;

  constructor() {
    this.connection = new PacketConnection(this.stream, {
      handlers: new MessageHandlers(),
      packetBytesMax: 16 * 1024 * 1024,
      clock: new ManualClock(),
      random: createSeededRandom(1),
      logger: silentLogger,
    });
  }

  /** What has arrived, in words: `default: a b`, `end 3`, `consumed 70`. */
  async take(): Promise<string[]> {
    await settled();
    const seen = this.stream.take().map(({ payload }) => describe(Buffer.from(payload, 'latin1')));
    await settled();
    return seen;
  }
}

function describe(payload: Buffer): string {
  const set = readTupleSet(payload);
  if (set.data !== undefined) return setText(payload);
  if (set.control !== undefined) return controlTexts(set.control).join(', ');
  return set.endOfInput ? `end ${set.srcTaskId}` : `consumed ${set.consumedBytes}`;
}
