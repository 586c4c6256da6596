/*
  One bolt alone. `Alerts` gathers readings for a minute and emits the sensors that were too hot for
  all of it. The test sends readings, moves time on, and reads what the bolt emitted, acked and
  refused; a minute takes no time.

      node --test examples/testing/one-bolt.test.ts
*/

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bolt, fields, type Tuple } from 'heron-ts';
import { testBolt } from 'heron-ts/testing';

const WINDOW_MS = 60_000;
const HOT_CELSIUS = 80;

type Reading = Tuple<{ sensor: string; celsius: number }>;

class Alerts extends Bolt.of({
  default: fields<{ sensor: string; sinceMs: number }>()('sensor', 'sinceMs'),
}) {
  #windowStartMs = Date.now();
  #readings: Reading[] = [];
  #timer: NodeJS.Timeout | undefined;

  override prepare(): void {
    this.#timer = setInterval(() => this.#closeWindow(), WINDOW_MS);
  }

  execute(reading: Reading): void {
    if (Number.isNaN(reading.get('celsius'))) this.fail(reading, 'not a number');
    else this.#readings.push(reading);
  }

  override finish(): void {
    this.#closeWindow();
  }

  override cleanup(): void {
    clearInterval(this.#timer);
  }

  #closeWindow(): void {
    const bySensor = Map.groupBy(this.#readings, (reading) => reading.get('sensor'));
    for (const [sensor, readings] of bySensor) {
      const wasHot = readings.every((reading) => reading.get('celsius') > HOT_CELSIUS);
      if (wasHot) this.emit({ sensor, sinceMs: this.#windowStartMs }, readings);
      for (const reading of readings) this.ack(reading);
    }
    this.#readings = [];
    this.#windowStartMs = Date.now();
  }
}

test('a sensor that was hot for a whole minute raises an alert', async () => {
  await using bolt = await testBolt(() => new Alerts(), { input: ['sensor', 'celsius'] });
  await bolt.sendAll([
    { sensor: 'oven', celsius: 90 },
    { sensor: 'door', celsius: 85 },
    { sensor: 'oven', celsius: 95 },
    { sensor: 'door', celsius: 20 },
  ]);
  await bolt.advance(WINDOW_MS - 1);
  assert.deepEqual(bolt.outputs(), []);
  assert.equal(bolt.pending.length, 4);

  await bolt.advance(1);
  assert.deepEqual(
    bolt.outputs().map(({ sensor }) => sensor),
    ['oven'],
  );
  assert.deepEqual(bolt.pending, []);
});

test('a reading that is no number is failed, and counts for nothing', async () => {
  await using bolt = await testBolt(() => new Alerts(), { input: ['sensor', 'celsius'] });
  await bolt.send({ sensor: 'oven', celsius: Number.NaN });
  await bolt.send({ sensor: 'oven', celsius: 90 });
  await bolt.finish();
  assert.equal(bolt.outputs().length, 1);
  assert.deepEqual(
    bolt.failed.map(({ reason }) => reason),
    ['not a number'],
  );
});

test('what was gathered is lost when the instance dies', async () => {
  await using bolt = await testBolt(() => new Alerts(), { input: ['sensor', 'celsius'] });
  await bolt.send({ sensor: 'oven', celsius: 90 });
  await bolt.restart();
  await bolt.advance(WINDOW_MS);
  assert.deepEqual(bolt.outputs(), []);
});
