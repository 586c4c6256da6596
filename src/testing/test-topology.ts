import { type ConfigInput, toConfigMap } from '../api/config.ts';
import type { TopologyDefinition } from '../api/topology.ts';
import { Kernel } from '../simulation/kernel/kernel.ts';
import { withKitConfig } from './kit-config.ts';
import { type StandIn, withStandIns } from './stand-in-components.ts';
import type { TopologyRun } from './topology-run.ts';
import type { RealAccess } from './user-code.ts';

/** What {@link testTopology} can be told. */
export interface TestTopologyOptions {
  /** The arguments of the submit. */
  readonly args?: readonly string[];
  /** Settings that win over the topology's own. */
  readonly config?: ConfigInput;
  /**
   * What runs in place of components, by name: {@link spoutFrom} for a spout, or a factory of a
   * component that declares the same streams.
   */
  readonly components?: Readonly<Record<string, StandIn>>;
  /** How many tasks components have, where it is not what the topology says. */
  readonly parallelism?: Readonly<Record<string, number>>;
  /** False: the topology is paused at first. */
  readonly active?: boolean;
  /** Decides all chance: shuffles, delays, `Math.random`. The same in every run unless set. */
  readonly seed?: number;
  /** What of the real machine the components may use; everything else is refused. */
  readonly allow?: readonly RealAccess[];
}

/**
 * Runs a whole topology inside the test: the engine's real topology master, stream managers and
 * instances on a simulated clock and network, with no process, socket or file. Resolves when all
 * components are open. Two runs with equal options are equal, event by event.
 *
 * @example
 * ```ts
 * test('counts all words once', async () => {
 *   await using run = await testTopology(wordCount, {
 *     components: { sentences: spoutFrom(['a b', 'b c']) },
 *   });
 *   await run.toCompletion();
 *   assert.deepEqual(run.outputs('split').length, 4);
 * });
 * ```
 *
 * @throws EngineError INVALID_TOPOLOGY or INVALID_CONFIG as at a submit, INVALID_ARGUMENT for a
 *   component that is not there, RUN_NOT_FINISHED when a component cannot be opened.
 */
export async function testTopology(
  definition: TopologyDefinition,
  options: TestTopologyOptions = {},
): Promise<TopologyRun> {
  const { args = [], config = {}, seed = 1, active = true, allow = [] } = options;
  const declared = definition.build({ args, config: toConfigMap(config) });
  const built = withKitConfig(withStandIns(declared, options));
  // All of the engine's processes: only tests of topologies pay for loading them.
  const { TopologyRun } = await import('./topology-run.ts');
  const run = new TopologyRun(built, { kernel: new Kernel({ seed }), allow, active });
  await run.start();
  return run;
}
