import { assert } from '../base/assert.ts';
import { environmentError } from '../base/errors.ts';
import type { TaskId } from '../base/ids.ts';
import { hashGroupingKey, NOT_A_KEY } from '../wire/grouping-key.ts';
import type { ConsumerGrouping, RoutableTuple } from './consumer-grouping.ts';
import type { Destinations } from './destinations.ts';
import { combineHashes, keyGroupOf, ownersOfKeyGroups } from './key-groups.ts';

/**
 * Fields grouping for values that this engine serialized: equal keys go to the task that owns their
 * key group. The fields count in the order in which the consumer names them, so that two streams
 * with different schemas agree about a common key.
 */
export class KeyGroupGrouping implements ConsumerGrouping {
  readonly #owners: Int32Array;
  readonly #keyGroups: number;
  readonly #positions: readonly number[];
  readonly #fields: readonly string[];

  /** `tasks` ascend; `schema` holds the producer's fields in order. */
  constructor(
    tasks: readonly TaskId[],
    schema: readonly string[],
    fields: readonly string[],
    keyGroups: number,
  ) {
    this.#owners = ownersOfKeyGroups(tasks, keyGroups);
    this.#keyGroups = keyGroups;
    this.#fields = fields;
    this.#positions = fields.map((field) => schema.indexOf(field));
    const areKnown = this.#positions.length > 0 && !this.#positions.includes(-1);
    assert(areKnown, 'a fields grouping names fields of the stream, at least one');
  }

  addDestinations(tuple: RoutableTuple, into: Destinations): void {
    let hash = this.#hashOf(tuple, 0);
    for (let field = 1; field < this.#positions.length; field += 1) {
      hash = combineHashes(hash, this.#hashOf(tuple, field));
    }
    into.add(this.#owners[keyGroupOf(hash, this.#keyGroups)] as number);
  }

  #hashOf(tuple: RoutableTuple, field: number): number {
    const position = this.#positions[field] as number;
    if (position >= tuple.valueCount) {
      throw this.#unroutable(field, `is missing: the tuple has ${tuple.valueCount} values`);
    }
    const hash = hashGroupingKey(tuple.bytes, tuple.valueStart(position), tuple.valueEnd(position));
    if (hash === NOT_A_KEY) throw this.#unroutable(field, 'is of a type that cannot be a key');
    return hash;
  }

  /** Instances refuse such tuples at emit, so one that arrives here comes from a broken peer. */
  #unroutable(field: number, why: string) {
    return environmentError('PACKET_MALFORMED', `grouping field '${this.#fields[field]}' ${why}`);
  }
}
