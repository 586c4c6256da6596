import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GraphiteDelivery } from '../../../src/metrics-manager/graphite-delivery.ts';
import { aMetricsRecord } from '../../support/metrics-records.ts';
import { ScriptedNetwork, ScriptedStream } from '../../support/scripted-network.ts';
import { settled } from '../../support/settled.ts';

class TextStream extends ScriptedStream {
  readonly texts: string[] = [];
  takes = true;

  override write(chunks: readonly Uint8Array[], onWritten: () => void): void {
    this.texts.push(Buffer.concat(chunks).toString());
    if (this.takes) onWritten();
  }
}

function aDelivery(prefix = 'heron') {
  const network = new ScriptedNetwork();
  const address = { host: '127.0.0.1', port: 2003 };
  const delivery = new GraphiteDelivery({ network, address, prefix, topology: 'words' });
  const signal = new AbortController();
  const deliver = () => delivery.deliver([aMetricsRecord()], signal.signal);
  return { network, delivery, signal, deliver };
}

const LINE = 'heron.words.word.container_1_word_1.__emit-count.default 3 1700000000\n';

test('a line for each number, over one connection', async () => {
  const { network, deliver } = aDelivery();
  const first = deliver();
  const stream = new TextStream();
  network.dials[0]?.accept(stream);
  await first;
  await deliver();
  assert.equal(network.dials.length, 1);
  assert.deepEqual(stream.texts, [LINE, LINE]);
});

test('what Graphite would misread is replaced; what is no number is left out', async () => {
  const { network, delivery, signal } = aDelivery('a.b');
  const record = aMetricsRecord({
    source: { hostname: 'h', component: 'wo.rd', instance: 'i 1' },
    metrics: [
      { name: 'a//b c\n', value: '1.5' },
      { name: 'x', value: 'many' },
      { name: 'y', value: 'Infinity' },
    ],
  });
  const delivered = delivery.deliver([record], signal.signal);
  const stream = new TextStream();
  network.dials[0]?.accept(stream);
  await delivered;
  assert.deepEqual(stream.texts, ['a.b.words.wo_rd.i_1.a._.b_c_ 1.5 1700000000\n']);
});

test('nobody there is a failure that may pass', async () => {
  const { network, deliver } = aDelivery();
  const delivered = deliver();
  network.dials[0]?.refuse();
  await assert.rejects(delivered, { code: 'CONNECTION_REFUSED', retryable: true });
});

test('a connection that is lost fails the delivery, and the next one dials again', async () => {
  const { network, deliver } = aDelivery();
  const first = deliver();
  const stream = new TextStream();
  stream.takes = false;
  network.dials[0]?.accept(stream);
  await settled();
  stream.hangUp();
  await assert.rejects(first, { code: 'CONNECTION_LOST', retryable: true });
  const second = deliver();
  network.dials[1]?.accept(new TextStream());
  await second;
});

test('an abort ends a delivery that Graphite does not take', async () => {
  const { network, deliver, signal } = aDelivery();
  const delivered = deliver();
  const stream = new TextStream();
  stream.takes = false;
  network.dials[0]?.accept(stream);
  await settled();
  signal.abort();
  await assert.rejects(delivered, { retryable: true });
  assert.equal(stream.isDestroyed, true);
});
