import { userError } from '../base/errors.ts';
import { type ComponentName, topologyName } from '../base/ids.ts';
import type { ConfigMap, DeclaredTopology } from '../model/logical-topology.ts';
import { invalidTopology, validateTopology } from '../model/validate-topology.ts';
import type { ComponentFactory } from './component-runtime.ts';
import type { DeclaredCustomGrouping } from './custom-grouping.ts';
import type { ValueSerializer } from './serializer.ts';
import type { TaskHook } from './topology-context.ts';
import { TopologyBuilder } from './topology-builder.ts';

/*
  A topology module exports what `topology` returns. The definition is built anew wherever it is
  needed: at submit to validate and store it, and in every instance to find the component.
*/

const TOPOLOGY: unique symbol = Symbol.for('heron-ts.topology');

/** Describes a topology: adds spouts and bolts to the builder. `args` are those of the submit. */
export type DefineTopology = (builder: TopologyBuilder, args: readonly string[]) => void;

export interface BuildOptions {
  /** Wins over the name in the module. */
  readonly name?: string;
  readonly args?: readonly string[];
  /** Settings that win over the module's own; the module sees them in `builder.config`. */
  readonly config?: ConfigMap;
  /** Settings that the module's own win over; the module sees them in `builder.config`. */
  readonly baseConfig?: ConfigMap;
}

export interface BuiltTopology {
  readonly topology: DeclaredTopology;
  readonly factories: ReadonlyMap<ComponentName, ComponentFactory>;
  readonly customGroupings: readonly DeclaredCustomGrouping[];
  /** Each is called once for each task. */
  readonly taskHooks: readonly (() => TaskHook)[];
  /** Undefined: the engine's own form. */
  readonly serializer?: ValueSerializer | undefined;
}

/** What a topology module exports. */
export interface TopologyDefinition {
  readonly [TOPOLOGY]: true;
  /**
   * Runs the module's function and validates the result.
   *
   * @throws EngineError INVALID_TOPOLOGY or INVALID_CONFIG with all that is wrong,
   *   COMPONENT_FAILED; and whatever the module's function throws.
   */
  build(options?: BuildOptions): BuiltTopology;
}

/**
 * Defines a topology. The module that `heron submit` is given exports what it returns.
 *
 * The function runs at submit and again in every instance, and must describe the same topology each
 * time: whatever it depends on comes in as arguments or settings of the submit.
 *
 * @param name Used when the submit names none.
 *
 * @example
 * ```ts
 * export default topology('word-count', (builder, [file = 'words.txt']) => {
 *   const sentences = builder.setSpout('sentences', () => new Sentences(file), { parallelism: 2 });
 *   const words = builder.setBolt('split', () => new Split()).shuffleGrouping(sentences);
 *   builder.setBolt('count', () => new Count(), { parallelism: 4 }).fieldsGrouping(words, 'word');
 * });
 * ```
 */
export function topology(name: string, define: DefineTopology): TopologyDefinition;
/** Defines a topology that gets its name at submit. */
export function topology(define: DefineTopology): TopologyDefinition;
export function topology(
  ...given: [name: string, define: DefineTopology] | [define: DefineTopology]
): TopologyDefinition {
  const [name, define] = given.length === 1 ? [undefined, given[0]] : given;
  return {
    [TOPOLOGY]: true,
    build: (options = {}) => build(define, options.name ?? name, options),
  };
}

/** True for what `topology` returned, also in another copy of this package. */
export function isTopologyDefinition(value: unknown): value is TopologyDefinition {
  return typeof value === 'object' && value !== null && TOPOLOGY in value;
}

function build(
  define: DefineTopology,
  name: string | undefined,
  { args = [], config = new Map(), baseConfig }: BuildOptions,
): BuiltTopology {
  if (name === undefined) {
    throw userError(
      'INVALID_TOPOLOGY',
      "the topology has no name: give one at submit, or write topology('my-name', …)",
    );
  }
  const builder = new TopologyBuilder(config, baseConfig);
  const returned: unknown = define(builder, args);
  if (returned instanceof Promise) {
    returned.catch(() => {}); // Whatever becomes of it, this is the error that the author must see.
    throw userError(
      'INVALID_TOPOLOGY',
      'the function given to topology() must not be async: await at the top level of the module',
    );
  }
  const declared = builder.declared(topologyName(name));
  const problems = validateTopology(declared);
  if (problems.length > 0) throw invalidTopology(declared.name, problems);
  const { factories, customGroupings, taskHooks, serializer } = builder;
  return { topology: declared, factories, customGroupings, taskHooks, serializer };
}
