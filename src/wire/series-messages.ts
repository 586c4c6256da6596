import { request } from './control-message.ts';
import { SeriesRequestSchema, SeriesResponseSchema } from './generated/series_pb.js';

/* Apart from messages.ts: only those who keep metrics, and those who ask them, load it. */

export { SeriesRequest_Part_Shape as SeriesShape } from './generated/series_pb.js';

/** Tracker → topology master and metrics cache: many series at once. */
export const QuerySeries = request(
  'heron.proto.tmanager.SeriesRequest',
  SeriesRequestSchema,
  SeriesResponseSchema,
);

/** The bytes of a table's rows or points, as its reader may keep and index them. */
export function numbersIn<Numbers>(
  bytes: Uint8Array,
  kind: { new (buffer: ArrayBuffer): Numbers; readonly BYTES_PER_ELEMENT: number },
): Numbers {
  const whole = bytes.length - (bytes.length % kind.BYTES_PER_ELEMENT);
  // A copy, as typed arrays have to begin at a multiple of their element.
  return new kind(new Uint8Array(bytes.subarray(0, whole)).buffer);
}

export function bytesOf(numbers: Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
