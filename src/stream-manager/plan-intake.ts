import { hasCode } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger, LogLevel } from '../base/logger.ts';
import { logLevelOf } from '../model/log-level.ts';
import type { PhysicalPlan } from '../model/physical-plan.ts';
import { type PhysicalPlanMessage, physicalPlanFromMessage } from '../wire/physical-plan.ts';
import type { TopologyMessage } from '../wire/topology.ts';
import { hydratePlan } from './hydrate-plan.ts';
import { decidePlan, type PlanFacts } from './plan-decision.ts';

export interface PlanInForce {
  readonly plan: PhysicalPlan;
  /** As instances get it. */
  readonly message: PhysicalPlanMessage;
}

export interface PlanIntakeOptions extends Omit<PlanFacts, 'current' | 'instanceIds'> {
  /** Those that are expected just now. */
  readonly instanceIds: () => ReadonlySet<InstanceId>;
  /** The topology as its `.defn` file holds it. */
  readonly definition: TopologyMessage;
  readonly logger: Logger;
  /** Of the logger above; by each plan. */
  readonly setLogLevel?: (level: LogLevel) => void;
}

/** Keeps the plan in force, and lets only those through that may replace it. */
export class PlanIntake {
  readonly #options: PlanIntakeOptions;
  #current: PlanInForce | undefined;

  constructor(options: PlanIntakeOptions) {
    this.#options = options;
  }

  get current(): PlanInForce | undefined {
    return this.#current;
  }

  /** Returns the plan when it is in force from now on; undefined when nothing changes. */
  take(message: PhysicalPlanMessage): PlanInForce | undefined {
    const { logger, definition, streamManager, topologyId, instanceIds } = this.#options;
    const plan = this.#read(message);
    if (plan === undefined) return undefined;
    const decision = decidePlan(plan, {
      streamManager,
      topologyId,
      instanceIds: instanceIds(),
      current: this.#current?.plan,
    });
    if (decision.kind === 'refuse') {
      logger.error('refused a plan', { code: decision.code, reason: decision.why });
    }
    if (decision.kind !== 'accept') return undefined;
    logger.info('a plan is in force', { epoch: plan.epoch, state: plan.topology.state });
    this.#options.setLogLevel?.(logLevelOf(plan.topology));
    this.#current = { plan, message: hydratePlan(message, definition) };
    return this.#current;
  }

  #read(message: PhysicalPlanMessage): PhysicalPlan | undefined {
    try {
      return physicalPlanFromMessage(message);
    } catch (error) {
      if (!hasCode(error, 'PACKET_MALFORMED')) throw error;
      this.#options.logger.error('refused a plan that cannot be read', { reason: error.message });
      return undefined;
    }
  }
}
