/* A process with nothing to wait for but its doorbell; another thread rings it after a while. */
import { Worker } from 'node:worker_threads';
import { createRingMemory } from '../../../src/ring/byte-ring.ts';
import { AtomicsDoorbell } from '../../../src/ring/atomics-doorbell.ts';
import type { WorkerJob } from './ring-worker.ts';

const doorbell = new AtomicsDoorbell();
const workerData: WorkerJob = {
  kind: 'ring',
  inbound: createRingMemory(4096),
  outbound: createRingMemory(4096),
  mainBell: doorbell.memory,
  ownBell: new AtomicsDoorbell().memory,
  frames: 0,
  bytesMax: 0,
  dieAfter: 0,
};
const seen = doorbell.sequence();
new Worker(new URL('./ring-worker.ts', import.meta.url), { workerData }).unref();
await doorbell.wait(seen);
console.log('woken');
