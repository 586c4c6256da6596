import { messageOf, stackOf, userError } from '../base/errors.ts';
import { type ComponentName, componentName, type TopologyName } from '../base/ids.ts';
import type {
  BoltComponent,
  ConfigMap,
  DeclaredTopology,
  InputStream,
  SpoutComponent,
} from '../model/logical-topology.ts';
import { REPLAYS_KEY, REPLAYS_KEY_REFUSED } from '../model/replaying-spouts.ts';
import { Settings } from '../model/settings.ts';
import { BoltDeclarer } from './bolt-declarer.ts';
import type { OUTPUTS } from './component.ts';
import {
  type AnyBolt,
  type AnyComponent,
  type AnySpout,
  type ComponentFactory,
  isBolt,
  isSpout,
  kindOf,
  replaysByItself,
  streamsOf,
} from './component-runtime.ts';
import type { DeclaredCustomGrouping } from './custom-grouping.ts';
import { type ConfigInput, toConfigMap } from './config.ts';
import type { ValueSerializer } from './serializer.ts';
import type { TaskHook } from './topology-context.ts';
import { Source } from './source.ts';
import type { InputOf } from './wiring.ts';

/** What may be said about a component besides its name and its factory. */
export interface ComponentOptions {
  /**
   * How many tasks, that is parallel copies, it has. By default the component's, then the
   * topology's `topology.component.parallelism`, then 1.
   */
  readonly parallelism?: number;
  /** Settings for this component; they win over the topology's. */
  readonly config?: ConfigInput;
}

/** What may be said about a spout, too. */
export interface SpoutOptions extends ComponentOptions {
  /**
   * Under at least once, that no message of it is lost, whatever process dies: a message whose
   * `fail` is called is emitted again, and a task that is started anew goes on where everything
   * before has been acked. A topology of which all spouts do this is `completed` although processes
   * have died on the way. By default true for a spout that extends ReplayableSpout, else false.
   */
  readonly replays?: boolean;
}

/** What may be said about a bolt, too. */
export interface BoltOptions extends ComponentOptions {
  /**
   * How many promises of `execute` may be pending at once in each task; 1 unless given. With more,
   * an `execute` that waits for something lets others begin. `finish` waits for all of them.
   */
  readonly concurrency?: number;
  /**
   * What a concurrent bolt keeps in order. `key`, the default: tuples of a fields grouping with
   * equal grouping fields are executed one after the other. `none`: nothing.
   */
  readonly order?: 'key' | 'none';
}

const PARALLELISM = 'topology.component.parallelism';

/** A component before the topology's settings are final, on which its parallelism may rest. */
type Draft<Component> = Omit<Component, 'parallelism'> & {
  readonly parallelism: number | undefined;
};

/**
 * Collects the components of a topology and how they are wired. Given to the function that
 * {@link topology} takes.
 *
 * A factory is called once for each task, on the machine that the task runs on. It is also called
 * when the topology is submitted, and once by every instance, to see what the component declares:
 * constructors should be cheap and leave connections and files to `open` and `prepare`.
 */
export class TopologyBuilder {
  /** The topology's settings as they stand, with those that were given at submit over them. */
  readonly config: Settings;
  readonly #ownConfig = new Map<string, string>();
  readonly #baseConfig: ConfigMap;
  readonly #submitConfig: ConfigMap;
  readonly #spouts: Draft<SpoutComponent>[] = [];
  readonly #bolts: Draft<BoltComponent>[] = [];
  readonly #factories = new Map<ComponentName, ComponentFactory>();
  readonly #customGroupings: DeclaredCustomGrouping[] = [];
  readonly #taskHooks: (() => TaskHook)[] = [];
  #serializer: ValueSerializer | undefined;

  /** Builders are made by the engine only. */
  constructor(submitConfig: ConfigMap, baseConfig: ConfigMap = new Map()) {
    this.#baseConfig = baseConfig;
    this.#submitConfig = submitConfig;
    this.config = new Settings(baseConfig, this.#ownConfig, submitConfig);
  }

  /** Adds settings of the topology. Those that were given at submit win over them. */
  setConfig(config: ConfigInput): this {
    for (const [key, text] of toConfigMap(config)) this.#ownConfig.set(key, text);
    return this;
  }

  /** Values travel as this makes bytes of them, all those of the topology. */
  setSerializer(serializer: ValueSerializer): this {
    const isWhole =
      typeof serializer?.serialize === 'function' && typeof serializer.deserialize === 'function';
    if (!isWhole) {
      const text = 'setSerializer needs an object with the methods serialize and deserialize';
      throw userError('INVALID_TOPOLOGY', text);
    }
    this.#serializer = serializer;
    return this;
  }

  /**
   * Adds a hook that watches every task of the topology; `make` is called in each of them. Heron's
   * `topology.auto.task.hooks`.
   */
  addTaskHook(make: () => TaskHook): this {
    this.#taskHooks.push(make);
    return this;
  }

  /**
   * Adds a spout.
   *
   * @param name Unique in the topology.
   * @returns The source to wire bolts to.
   * @throws EngineError INVALID_TOPOLOGY when the factory makes no spout, COMPONENT_FAILED when it
   *   throws.
   */
  setSpout<Made extends AnySpout>(
    name: string,
    factory: () => Made,
    { replays, ...options }: SpoutOptions = {},
  ): Source<Made[typeof OUTPUTS]> {
    const spout = makeOnce(name, factory);
    if (!isSpout(spout)) throw wrongKind('setSpout', name, 'a spout', 'a bolt');
    const draft = this.#draft(name, spout, factory, options);
    const isReplaying = replays ?? replaysByItself(spout);
    const config = isReplaying ? new Map([...draft.config, [REPLAYS_KEY, 'true']]) : draft.config;
    this.#spouts.push({ kind: 'spout', ...draft, config });
    return new Source(this, componentName(name));
  }

  /**
   * Adds a bolt.
   *
   * @param name Unique in the topology.
   * @returns The declarer, to say what the bolt reads and to wire further bolts to.
   * @throws EngineError INVALID_TOPOLOGY when the factory makes no bolt, COMPONENT_FAILED when it
   *   throws.
   */
  setBolt<Made extends AnyBolt>(
    name: string,
    factory: () => Made,
    { concurrency, order, ...others }: BoltOptions = {},
  ): BoltDeclarer<Made[typeof OUTPUTS], InputOf<Made>> {
    const bolt = makeOnce(name, factory);
    if (!isBolt(bolt)) throw wrongKind('setBolt', name, 'a bolt', 'a spout');
    const config = {
      ...others.config,
      ...(concurrency !== undefined && { 'topology.bolt.concurrency': concurrency }),
      ...(order !== undefined && { 'topology.bolt.order': order }),
    };
    const options = { ...others, config };
    const inputs: InputStream[] = [];
    this.#bolts.push({ kind: 'bolt', ...this.#draft(name, bolt, factory, options), inputs });
    return new BoltDeclarer(this, componentName(name), {
      addInput: (input) => inputs.push(input),
      addCustomGrouping: (grouping) => this.#customGroupings.push(grouping),
    });
  }

  /** For the engine: what has been collected, not yet validated. */
  declared(name: TopologyName): DeclaredTopology {
    const layers = [this.#baseConfig, this.#ownConfig, this.#submitConfig];
    const config = new Map([...layers.flatMap((layer) => [...layer]), ['topology.name', name]]);
    const defaultParallelism = this.#defaultParallelism();
    const components = [...this.#spouts, ...this.#bolts].map((draft) => ({
      ...draft,
      parallelism: draft.parallelism ?? defaultParallelism,
    }));
    return { name, config, components };
  }

  /** For the engine. */
  get factories(): ReadonlyMap<ComponentName, ComponentFactory> {
    return this.#factories;
  }

  /** For the engine. */
  get serializer(): ValueSerializer | undefined {
    return this.#serializer;
  }

  /** For the engine. */
  get customGroupings(): readonly DeclaredCustomGrouping[] {
    return this.#customGroupings;
  }

  /** For the engine. */
  get taskHooks(): readonly (() => TaskHook)[] {
    return this.#taskHooks;
  }

  #draft(
    name: string,
    component: AnyComponent,
    factory: ComponentFactory,
    options: ComponentOptions,
  ): Draft<Omit<SpoutComponent, 'kind'>> {
    const { [PARALLELISM]: configured, ...config } = options.config ?? {};
    const isMarked = Object.hasOwn(config, REPLAYS_KEY);
    if (isMarked) throw userError('INVALID_CONFIG', `component '${name}': ${REPLAYS_KEY_REFUSED}`);
    this.#factories.set(componentName(name), factory);
    return {
      name: componentName(name),
      parallelism:
        options.parallelism ?? (configured === undefined ? undefined : Number(configured)),
      language: 'typescript',
      className: component.constructor.name,
      config: toConfigMap(config),
      outputs: streamsOf(component),
    };
  }

  /** 1 when the setting's text is wrong: validation says so, and says it once. */
  #defaultParallelism(): number {
    try {
      return this.config.get(PARALLELISM);
    } catch {
      return 1;
    }
  }
}

/** Calls the factory to see what it makes. */
function makeOnce(name: string, factory: ComponentFactory): AnyComponent {
  let made: AnyComponent;
  try {
    made = factory();
  } catch (cause) {
    const text = `the factory of component '${name}' failed: ${messageOf(cause)}`;
    const failed = userError('COMPONENT_FAILED', text, cause);
    // The author's own stack is the answer to "where".
    failed.stack = stackOf(cause);
    throw failed;
  }
  if (kindOf(made) === undefined || typeof made === 'function') {
    throw userError(
      'INVALID_TOPOLOGY',
      `the factory of component '${name}' must return a new component, ` +
        'such as () => new Split(), of a class that extends Spout, Bolt or BasicBolt',
    );
  }
  return made;
}

function wrongKind(method: string, name: string, expected: string, made: string): Error {
  const text = `${method}('${name}') needs ${expected}, its factory makes ${made}`;
  return userError('INVALID_TOPOLOGY', text);
}
