import type { Clock, Timer } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { TrackedTopology } from './tracked-topology.ts';
import type { MasterLocation, Registration } from './topology-view.ts';

/** Asks a topology master which stream managers are missing. Rejects when it does not say. */
export type AskRegistrations = (
  master: MasterLocation,
) => Promise<{ readonly absent: readonly string[] }>;

export interface RegistrationWatchOptions {
  readonly clock: Clock;
  readonly ask: AskRegistrations;
  /** Those that there are now. */
  readonly topologies: () => readonly TrackedTopology[];
  /** Called for each topology of which something else is known now. */
  readonly onChange: (topology: TrackedTopology) => void;
}

/** A container's death is seen within this time and that in which its master notices. */
const PAUSE_MS = 2_000;
const ASKED_AT_ONCE = 8;
const NO_MASTER: Registration = { problem: 'it has no topology master' };

/**
 * Asks all topology masters, again and again: stored reports do not tell that their executor is
 * dead. A master that does not answer holds up seven others at most, and for its time limit.
 */
export class RegistrationWatch {
  readonly #options: RegistrationWatchOptions;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: RegistrationWatchOptions) {
    this.#options = options;
    this.#pause();
  }

  /** Idempotent; nothing changes afterwards. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #pause(): void {
    if (!this.#isClosed) {
      this.#timer = this.#options.clock.after(PAUSE_MS, () => void this.#round());
    }
  }

  async #round(): Promise<void> {
    const topologies = this.#options.topologies();
    for (let at = 0; at < topologies.length; at += ASKED_AT_ONCE) {
      const few = topologies.slice(at, at + ASKED_AT_ONCE);
      await Promise.all(few.map((topology) => this.#look(topology)));
    }
    this.#pause();
  }

  async #look(topology: TrackedTopology): Promise<void> {
    const { view } = topology;
    const registration = await this.#registrationOf(view);
    // Whatever was known before the plan or the master changed is not of this topology any more.
    const isSame = topology.view.master === view.master && topology.view.id === view.id;
    if (this.#isClosed || !isSame) return;
    if (topology.tell(registration)) this.#options.onChange(topology);
  }

  async #registrationOf({
    master,
    physicalPlan,
  }: TrackedTopology['view']): Promise<Registration | undefined> {
    if (physicalPlan === undefined) return undefined;
    if (master === undefined) return NO_MASTER;
    try {
      return { missing: (await this.#options.ask(master)).absent.toSorted() };
    } catch (error) {
      return { problem: messageOf(error) };
    }
  }
}
