import { userError } from '../../base/errors.ts';
import type { ComponentName } from '../../base/ids.ts';
import type { OutputStream } from '../../model/logical-topology.ts';
import type { PlanIndex } from '../../model/plan-index.ts';
import { isGroupingKey } from '../../wire/values.ts';

/**
 * The fields of one stream by which some consumer groups it. What cannot be a key is refused when
 * it is emitted, in the author's own stack (ruling R11); a stream manager could only close the
 * connection.
 */
export class GroupingFields {
  readonly #component: ComponentName;
  readonly #output: OutputStream;
  readonly #positions: readonly number[];

  constructor(plan: PlanIndex, component: ComponentName, output: OutputStream) {
    this.#component = component;
    this.#output = output;
    const names = new Set(
      plan
        .consumersOf(component, output.stream)
        .flatMap(({ grouping }) => (grouping.kind === 'fields' ? grouping.fields : [])),
    );
    this.#positions = [...output.fields.keys()].filter((at) => names.has(output.fields[at] ?? ''));
  }

  /**
   * Hot: strings and numbers, what keys mostly are, cost a test of their type each.
   *
   * @throws EngineError VALUE_NOT_SERIALIZABLE that names the field.
   */
  check(values: readonly unknown[]): void {
    const positions = this.#positions;
    for (let index = 0; index < positions.length; index += 1) {
      const position = positions[index] as number;
      const value = values[position];
      if (typeof value === 'string' || typeof value === 'number') continue;
      if (!isGroupingKey(value)) throw this.#refused(position, value);
    }
  }

  #refused(position: number, value: unknown): Error {
    const { stream, fields } = this.#output;
    return userError(
      'VALUE_NOT_SERIALIZABLE',
      `field '${fields[position]}' of stream '${stream}' of '${this.#component}' decides which ` +
        `task gets the tuple, and ${described(value)} cannot: a grouping key is a number, a ` +
        'string, a boolean, a bigint, bytes, null, or an array of these',
    );
  }
}

function described(value: unknown): string {
  if (value === undefined) return 'undefined';
  if (Array.isArray(value)) return 'an array that holds something else';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
