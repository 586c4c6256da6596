/*
  A spout that asks a service for orders, with its retries and time-outs. The client of the service
  is the spout's argument, so that a test can give it another one: real network access is refused in
  a test. Waits of the spout and of the client are simulated, so ten failed attempts take no time.

      node --test examples/testing/spout-and-service.test.ts
*/

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fields, Spout } from 'heron-ts';
import { testSpout } from 'heron-ts/testing';

type FetchOrders = (after: number, signal: AbortSignal) => Promise<readonly number[]>;

const ATTEMPT_MS_MAX = 2_000;
const RETRY_AFTER_MS = 5_000;

/** Emits every order once, and again when its tuple failed. */
class Orders extends Spout.of({ default: fields<{ order: number }>()('order') }) {
  readonly #fetchOrders: FetchOrders;
  #waiting: number[] = [];
  #last = 0;

  constructor(fetchOrders: FetchOrders) {
    super();
    this.#fetchOrders = fetchOrders;
  }

  async nextTuple(): Promise<void> {
    if (this.#waiting.length === 0) await this.#fetchMore();
    const order = this.#waiting.shift();
    if (order !== undefined) this.emit({ order }, order);
  }

  override fail(order: number): void {
    this.#waiting.unshift(order);
  }

  async #fetchMore(): Promise<void> {
    try {
      const orders = await this.#fetchOrders(this.#last, AbortSignal.timeout(ATTEMPT_MS_MAX));
      this.#waiting.push(...orders);
      this.#last = orders.at(-1) ?? this.#last;
    } catch (error) {
      this.reportError(error);
      await delay(RETRY_AFTER_MS);
    }
  }
}

test('orders are emitted, and again when they failed', async () => {
  const orders = [101, 102];
  await using spout = await testSpout(
    () => new Orders(async (after) => orders.filter((order) => order > after)),
  );
  await spout.nextTuple(2);
  await spout.ack(101);
  await spout.fail(102, { kind: 'lost-instance' });
  await spout.nextTuple();
  assert.deepEqual(spout.outputs(), [{ order: 101 }, { order: 102 }, { order: 102 }]);
});

test('a service that hangs is asked again after a while', async () => {
  const asked: number[] = [];
  const hangsTwice: FetchOrders = async (_after, signal) => {
    asked.push(performance.now());
    if (asked.length <= 2) await delay(60_000, undefined, { signal });
    return [7];
  };
  await using spout = await testSpout(() => new Orders(hangsTwice));
  await spout.nextTuple(3);
  assert.deepEqual(spout.outputs(), [{ order: 7 }]);
  assert.equal(spout.errors.length, 2);
  const waits = asked.slice(1).map((atMs, attempt) => Math.round(atMs - (asked[attempt] ?? 0)));
  assert.deepEqual(waits, [ATTEMPT_MS_MAX + RETRY_AFTER_MS, ATTEMPT_MS_MAX + RETRY_AFTER_MS]);
});

test('the real service is out of reach', async () => {
  const real: FetchOrders = async (after) => {
    const response = await fetch(`http://orders.example/?after=${after}`);
    return (await response.json()) as number[];
  };
  await using spout = await testSpout(() => new Orders(real));
  await spout.nextTuple();
  assert.match(String(spout.errors[0]?.error), /called fetch, which reaches out of the simulation/);
});
