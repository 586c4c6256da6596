import type { AnySpout } from '../api/component-runtime.ts';
import { Spout } from '../api/spout.ts';
import type { StreamDeclarations } from '../api/streams.ts';
import type { TopologyContext } from '../api/topology-context.ts';
import { assertDefined, unreachable } from '../base/assert.ts';
import { DEFAULT_STREAM } from '../base/ids.ts';
import type { OutputStream } from '../model/logical-topology.ts';
import { ScriptedStep, type SpoutItems, type SpoutScript, type SpoutStep } from './spout-script.ts';
import { currentWorld, spend, type UserCodeWorld } from './user-code.ts';

/** How far a task has come in its input; survives its process. */
class ScriptPosition {
  readonly #items: SpoutItems;
  #next = 0;

  constructor(items: SpoutItems) {
    this.#items = items;
  }

  take(): { readonly item: unknown } | undefined {
    if (this.#next === this.#items.length) return undefined;
    const item = this.#items[this.#next];
    this.#next += 1;
    return { item };
  }
}

/** A factory of spouts that emit a script to these streams; the position is the factory's. */
export function scriptedSpout(
  script: SpoutScript,
  outputs: readonly OutputStream[],
): () => AnySpout {
  const positions = new Map<number, ScriptPosition>();
  const positionOf = (taskIndex: number, parallelism: number): ScriptPosition => {
    const known = positions.get(taskIndex);
    if (known !== undefined) return known;
    const fresh = new ScriptPosition(script.itemsOf(taskIndex, parallelism));
    positions.set(taskIndex, fresh);
    return fresh;
  };
  const Declared = Spout.of<StreamDeclarations>(declarationsOf(outputs));
  class ScriptedSpout extends Declared {
    #position: ScriptPosition | undefined;

    override open({ taskIndex, parallelism }: TopologyContext): void {
      this.#position = positionOf(taskIndex, parallelism);
    }

    override nextTuple(): unknown {
      const taken = assertDefined(this.#position, 'open comes first').take();
      if (taken !== undefined) return this.#do(taken.item);
      if (script.ends) this.endOfInput();
      return undefined;
    }

    #do(item: unknown): unknown {
      if (item instanceof ScriptedStep) return this.#step(item.step);
      this.emit(valuesOf(item, outputs) as never);
      return undefined;
    }

    #step(step: SpoutStep): unknown {
      switch (step.kind) {
        case 'emit':
          this.emit(
            step.stream,
            valuesOf(step.values, outputs, step.stream) as never,
            step.messageId,
          );
          return undefined;
        case 'throw':
          return fail(step);
        case 'hang':
          spend(step.ms);
          return undefined;
        case 'pause':
          return wait(step.ms);
        case 'crash':
          return crash(step.afterMs);
        default:
          return unreachable(step);
      }
    }
  }
  return () => new ScriptedSpout();
}

function worldOfScript(): UserCodeWorld {
  return assertDefined(currentWorld(), 'a scripted spout runs in a simulation');
}

function wait(ms: number): Promise<void> {
  const { clock } = worldOfScript();
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}

/** Never settles: a dead process does not go on with the next item. */
async function crash(afterMs: number): Promise<never> {
  await wait(afterMs);
  worldOfScript().crash();
  return new Promise<never>(() => {});
}

async function fail({ error, afterMs }: SpoutStep & { readonly kind: 'throw' }): Promise<never> {
  await wait(afterMs);
  throw error;
}

/** The value of a stream with one field may stand alone. */
function valuesOf(
  item: unknown,
  outputs: readonly OutputStream[],
  stream: string = DEFAULT_STREAM,
): unknown {
  const declared = outputs.find((output) => output.stream === stream);
  const isAlone = typeof item !== 'object' || item === null || !isEmitted(item);
  return isAlone && declared?.fields.length === 1 ? [item] : item;
}

/** What `emit` takes: an array, or a plain object. A date or bytes are values. */
function isEmitted(item: object): boolean {
  if (Array.isArray(item)) return true;
  const prototype: unknown = Object.getPrototypeOf(item);
  return prototype === Object.prototype || prototype === null;
}

export function declarationsOf(outputs: readonly OutputStream[]): StreamDeclarations {
  return Object.fromEntries(outputs.map(({ stream, fields }) => [stream, fields]));
}
