import { EngineError, environmentError } from '../base/errors.ts';
import type { TopologyId, TopologyName } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { TopologyState } from '../model/logical-topology.ts';
import { paths } from '../state-manager/paths.ts';
import { sameBytes } from '../state-manager/same-bytes.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { StoredTopology } from '../wire/messages.ts';
import { type TopologyMessage, withState } from '../wire/topology.ts';

/*
  The state that a topology's first plan gets: that of the node `topologies/<topology>`, where a
  submit puts it. A command that comes before the first plan changes it there. A later one changes
  the plan, and then this node too, for the case that the plan is damaged and has to be made again.
*/

export interface DesiredStateOptions {
  readonly stateManager: StateManager;
  readonly logger: Logger;
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  /** The topology to work by. */
  readonly submitted: TopologyMessage;
}

export class DesiredState {
  readonly #options: DesiredStateOptions;
  readonly #path: string;
  #topology: TopologyMessage;

  constructor(options: DesiredStateOptions) {
    this.#options = options;
    this.#path = paths.topology(options.topologyName);
    this.#topology = options.submitted;
  }

  /** For a plan that has none before it. */
  get topology(): TopologyMessage {
    return this.#topology;
  }

  /**
   * Resolves when the state is stored.
   *
   * @throws EngineError TOPOLOGY_NOT_READY (retryable) when it cannot be that of a first plan,
   *   TOPOLOGY_NOT_FOUND when the topology is being removed, STATE_CONFLICT, or what the state
   *   manager says.
   */
  async set(state: TopologyState): Promise<void> {
    if (state === 'KILLED') {
      const text = 'there is no physical plan yet, so there are no spouts to end';
      throw environmentError('TOPOLOGY_NOT_READY', text, { retryable: true });
    }
    await this.#store(state);
  }

  /** Beside the plan, which is stored already: a failure is no more than a line in the log. */
  async note(state: TopologyState): Promise<void> {
    if (state === 'KILLED') return; // The request for a drain is there until the end.
    try {
      await this.#store(state);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      const reason = error.message;
      this.#options.logger.warn('the state is stored in the plan alone', { state, reason });
    }
  }

  async #store(state: TopologyState): Promise<void> {
    const { stateManager, topologyId } = this.#options;
    const bytes = await stateManager.read(this.#path);
    if (bytes === undefined) throw this.#gone();
    const stored = StoredTopology.decode(bytes);
    if (stored.id !== topologyId) throw this.#gone();
    const wanted = StoredTopology.encode(withState(stored, state));
    if (!sameBytes(wanted, bytes)) await stateManager.replace(this.#path, bytes, wanted);
    this.#topology = withState(this.#topology, state);
  }

  #gone(): EngineError {
    const text = `the topology ${this.#options.topologyName} has been removed from the state tree`;
    return environmentError('TOPOLOGY_NOT_FOUND', text);
  }
}
