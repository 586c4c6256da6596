import type { ThreadSession } from './thread-session.ts';

/** Figures of a thread's heap, and of the process that it belongs to: one a line. */
export async function heapFigures(session: ThreadSession): Promise<string> {
  const { usedSize, totalSize, backingStorageSize } = await session.ask('Runtime.getHeapUsage');
  const { rss } = process.memoryUsage();
  const figures: readonly (readonly [string, unknown])[] = [
    ['heap used by objects', usedSize],
    ['heap taken from the system', totalSize],
    ['array buffers of the heap', backingStorageSize],
    ['memory of the process', rss],
  ];
  return figures
    .filter(([, bytes]) => typeof bytes === 'number')
    .map(([name, bytes]) => `${name}: ${Math.round(bytes as number)} bytes`)
    .join('\n');
}
