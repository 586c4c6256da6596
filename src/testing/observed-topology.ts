import type { ComponentFactory } from '../api/component-runtime.ts';
import type { BuiltTopology } from '../api/topology.ts';
import { assertDefined } from '../base/assert.ts';
import type { ComponentName } from '../base/ids.ts';
import type { Kernel } from '../simulation/kernel/kernel.ts';
import { observe } from './observed-component.ts';
import { TaskHistory } from './task-history.ts';
import type { RealAccess } from './user-code.ts';
import { worldOfThread } from './world-of-thread.ts';

/**
 * If calls took no time, a spout without end would emit millions of tuples in a simulated second,
 * and a test would wait for all of them.
 */
const CALL_MS = 0.1;

export interface TopologyObserverOptions {
  readonly kernel: Kernel;
  readonly allow: readonly RealAccess[];
  /** Simulated milliseconds since the start of the run. */
  readonly nowMs: () => number;
  /** Which of its component's tasks an instance runs, by the name of its process. */
  readonly taskIndexOf: (instance: string) => number | undefined;
  /** Ends the process of an instance. */
  readonly kill: (instance: string) => void;
}

/** Writes down what the components of a topology do, task by task and over all restarts. */
export class TopologyObserver {
  readonly #options: TopologyObserverOptions;
  readonly #histories = new Map<string, TaskHistory>();

  constructor(options: TopologyObserverOptions) {
    this.#options = options;
  }

  get histories(): readonly TaskHistory[] {
    return [...this.#histories.values()];
  }

  of(component: string, taskIndex: number): TaskHistory {
    const key = `${component}/${taskIndex}`;
    const known = this.#histories.get(key);
    if (known !== undefined) return known;
    const fresh = new TaskHistory(component, taskIndex);
    this.#histories.set(key, fresh);
    return fresh;
  }

  /** The same topology, whose components are observed from now on. */
  observed(built: BuiltTopology): BuiltTopology {
    const observed = [...built.factories].map(
      ([name, factory]) => [name, this.#observedFactory(name, factory)] as const,
    );
    return { ...built, factories: new Map(observed) };
  }

  /** Instances make their components on the thread that runs them. */
  #observedFactory(name: ComponentName, factory: ComponentFactory): ComponentFactory {
    const { kernel, allow, nowMs, taskIndexOf, kill } = this.#options;
    return () => {
      const thread = assertDefined(kernel.runningThread, 'instances run on simulated threads');
      const instance = thread.name;
      const taskIndex = assertDefined(taskIndexOf(instance), `${instance} is in the plan`);
      const world = worldOfThread(thread, {
        kernel,
        where: `'${name}' (task ${taskIndex})`,
        allow,
        crash: () => kill(instance),
      });
      const history = this.of(name, taskIndex);
      return observe(factory, { world, history, nowMs, callMs: CALL_MS })();
    };
  }
}
