import type { StreamDeclarations } from '../../api/streams.ts';
import { type StreamDescription, WORKLOAD_FIELDS } from './workload-description.ts';

/** Streams as a component declares them. */
export function fieldsOf(streams: readonly StreamDescription[]): StreamDeclarations {
  return Object.fromEntries(streams.map(({ name }) => [name, WORKLOAD_FIELDS]));
}
