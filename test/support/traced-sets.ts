import { componentName, streamName } from '../../src/base/ids.ts';
import { StreamHeaders } from '../../src/wire/stream-header.ts';
import { encodeTrace, type TraceContext } from '../../src/wire/trace-context.ts';
import { TupleSetWriter } from '../../src/wire/tuple-set-writer.ts';
import { type TaskInTest, writeFrame } from './task-in-test.ts';

/** Gives a task words of `source`, each with the trace that it belongs to. */
export function tracedSet(
  task: TaskInTest,
  words: readonly (readonly [word: string, trace: TraceContext | undefined])[],
): void {
  const region = new Uint8Array(4096);
  const writer = new TupleSetWriter();
  const header = new StreamHeaders().of(componentName('source'), streamName('default'));
  writer.begin(region, 0, region.length, header, 1);
  for (const [word, trace] of words) {
    if (trace === undefined) writer.addTuple([word]);
    else writer.addTraced([word], undefined, undefined, encodeTrace(trace));
  }
  writer.finish();
  writeFrame(task.gateway.dataIn, region.slice(writer.start, writer.end));
}
