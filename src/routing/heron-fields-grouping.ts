import { environmentError } from '../base/errors.ts';
import type { TaskId } from '../base/ids.ts';
import { hashModulo } from '../wire/libstdcpp-hash.ts';
import type { ConsumerGrouping, RoutableTuple } from './consumer-grouping.ts';
import type { Destinations } from './destinations.ts';

/**
 * Fields grouping for values that Heron's own instances serialized, by Heron's own rule, so that a
 * key meets the same task here as there:
 *
 *     sum (of 32 bits, wrapping) of: hash of each value's bytes mod 633910111
 *     task = tasks[the sum, widened to an unsigned 64-bit number, mod n]
 *
 * A field counts once, however often it is named; without any known one the first task gets all.
 */
export class HeronFieldsGrouping implements ConsumerGrouping {
  readonly #tasks: readonly TaskId[];
  readonly #positions: readonly number[];

  /** `tasks` ascend; `schema` holds the producer's fields in order. */
  constructor(tasks: readonly TaskId[], schema: readonly string[], fields: readonly string[]) {
    this.#tasks = tasks;
    this.#positions = schema.flatMap((field, position) =>
      fields.includes(field) ? [position] : [],
    );
  }

  addDestinations(tuple: RoutableTuple, into: Destinations): void {
    let sum = 0;
    for (const position of this.#positions) {
      if (position >= tuple.valueCount) {
        const why = `a grouping needs value ${position} of a tuple with ${tuple.valueCount}`;
        throw environmentError('PACKET_MALFORMED', why);
      }
      const start = tuple.valueStart(position);
      sum = (sum + hashModulo(tuple.bytes, start, tuple.valueEnd(position))) | 0;
    }
    into.add(this.#tasks[unsignedModulo(sum, this.#tasks.length)] as TaskId);
  }
}

/** 2^64 is larger than what a double holds exactly, so its remainder is taken in two steps. */
function unsignedModulo(sum: number, count: number): number {
  if (sum >= 0) return sum % count;
  const halfRemainder = 2 ** 32 % count;
  const wholeRemainder = (halfRemainder * halfRemainder) % count;
  return (wholeRemainder + count - (-sum % count)) % count;
}
