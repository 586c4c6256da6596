import { EXIT } from '../base/exit-codes.ts';
import type { ProcessExit } from '../model/container-report.ts';
import { AdvisedError, Interrupted } from './advised-error.ts';
import type { Cluster } from './cluster.ts';
import type { CommandContext } from './command-context.ts';
import { whileGuarded } from './guard-scheduler.ts';
import { placeText } from './place.ts';
import { decideStart, type StartDecision } from './start-decision.ts';
import { clearAway, type LaunchedTopology } from './submission.ts';
import { confirmSubmit } from './unconfirmed-submit.ts';
import { readCompletion, TopologyWatch } from './topology-watch.ts';

/** Executors report to their scheduler by a file, which nobody announces. */
const EXECUTOR_LOOK_MS = 250;

/**
 * Waits until a launched topology runs, or has already completed. When it cannot, or takes too
 * long, it is cleared away; its logs are kept.
 *
 * @throws EngineError TOPOLOGY_FAILED, PROCESS_FAILED, START_TIMEOUT, or TOPOLOGY_NOT_FOUND when it
 *   was killed meanwhile.
 */
export async function awaitStart(
  launched: LaunchedTopology,
  timeoutSeconds: number,
  cluster: Cluster,
  context: CommandContext,
): Promise<'running' | 'completed'> {
  const { target, topology, scheduler } = launched;
  const outcome = await whileGuarded(launched, cluster, context, () =>
    firstOutcome(launched, timeoutSeconds, cluster, context),
  );
  switch (outcome.kind) {
    case 'running':
    case 'completed':
      await confirmSubmit(cluster.stateManager, topology.name);
      return outcome.kind;
    case 'gone':
      if ((await readCompletion(cluster.stateManager, topology)) === undefined) {
        throw goneError(launched);
      }
      await confirmSubmit(cluster.stateManager, topology.name);
      return 'completed';
    case 'failed':
    case 'interrupted':
    case 'late':
      await clearAway(target, scheduler, cluster, context, { keepLogs: true });
      throw startError(outcome, launched, timeoutSeconds, cluster.logs.keptPath(topology.id));
  }
}

type Outcome =
  | Exclude<StartDecision, { readonly kind: 'wait' }>
  | { readonly kind: 'gone' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'late'; readonly missing: string };

function firstOutcome(
  launched: LaunchedTopology,
  timeoutSeconds: number,
  { stateManager }: Cluster,
  { clock, interruption }: CommandContext,
): Promise<Outcome> {
  const { topology, packingPlan, scheduler, target } = launched;
  return new Promise((resolve) => {
    let executors: Awaited<ReturnType<typeof scheduler.describe>>['executors'] = [];
    let missing = 'its processes';
    const settle = (outcome: Outcome): void => {
      watch[Symbol.dispose]();
      limit.cancel();
      looks.cancel();
      interruption.removeEventListener('abort', onInterruption);
      resolve(outcome);
    };
    const consider = (): void => {
      const facts = watch.now;
      const decision = decideStart({ topology, packingPlan, executors, ...facts });
      if (decision.kind !== 'wait') settle(decision);
      else if (!facts.exists) settle({ kind: 'gone' });
      else ({ missing } = decision);
    };
    const onInterruption = (): void => settle({ kind: 'interrupted' });
    const watch = new TopologyWatch({
      stateManager,
      name: topology.name,
      packingPlan,
      onChange: consider,
    });
    const limit = clock.after(timeoutSeconds * 1000, () => settle({ kind: 'late', missing }));
    const looks = clock.every(EXECUTOR_LOOK_MS, () => {
      void scheduler.describe(target).then(
        (description) => {
          ({ executors } = description);
          return consider();
        },
        () => {}, // Read again at the next look.
      );
    });
    interruption.addEventListener('abort', onInterruption);
    if (interruption.aborted) onInterruption();
  });
}

function startError(
  outcome: Exclude<Outcome, { readonly kind: 'running' | 'completed' | 'gone' }>,
  { topology: { name } }: LaunchedTopology,
  timeoutSeconds: number,
  logs: string,
): AdvisedError {
  switch (outcome.kind) {
    case 'failed':
      return failedError(name, outcome, logs);
    case 'interrupted':
      return new Interrupted(`the start of ${name} was interrupted`);
    case 'late': {
      const text = `${name} did not run within ${timeoutSeconds} s; missing: ${outcome.missing}`;
      return new AdvisedError('START_TIMEOUT', text, {
        domain: 'environment',
        next: `look at the logs in ${logs}, or give it more time with --timeout <seconds>`,
      });
    }
  }
}

function failedError(
  name: string,
  { process, exit }: { readonly process: string; readonly exit: ProcessExit },
  logs: string,
): AdvisedError {
  const isUsers = exit.code === EXIT.userCode;
  const text = `${name} cannot run: ${process} ${exit.reason}`;
  return new AdvisedError(isUsers ? 'TOPOLOGY_FAILED' : 'PROCESS_FAILED', text, {
    domain: isUsers ? 'user' : 'environment',
    details: exit.lastLines,
    next: `correct what the lines above show and submit it again; the logs are in ${logs}`,
  });
}

function goneError({ place, topology: { name } }: LaunchedTopology): AdvisedError {
  return new AdvisedError('TOPOLOGY_NOT_FOUND', `${name} was killed while it started`, {
    domain: 'user',
    next: `'heron list ${placeText(place)}' shows what there is`,
  });
}
