import type { Random } from '../base/random.ts';
import type { Settings } from '../model/settings.ts';

/*
  When a process that died is started again. Pure: facts in, decision out.

  P1. The delay doubles with every early death from `backoffMinMs` up to `backoffMaxMs`.
  P2. A run of `healthyAfterMs` wipes the slate: the next death counts as the first.
  P3. After `attemptsMax` early deaths in a row the process is given up.
  P4. One that could not even be started, because the disk is full say, is never given up for that:
      it has done nothing wrong, and will run as soon as the machine can start it.
*/

export interface RestartPolicy {
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  readonly attemptsMax: number;
  readonly healthyAfterMs: number;
}

/** Long enough to have registered and worked; far above the largest useful back-off. */
const HEALTHY_AFTER_MS = 60_000;

export function restartPolicyOf(settings: Settings): RestartPolicy {
  return {
    backoffMinMs: settings.get('heron.executor.restart.backoff.min.ms'),
    backoffMaxMs: settings.get('heron.executor.restart.backoff.max.ms'),
    attemptsMax: settings.get('heron.executor.restart.attempts.max'),
    healthyAfterMs: HEALTHY_AFTER_MS,
  };
}

export interface Death {
  /** Deaths in a row before this one, as counted by the decision on the last one. */
  readonly earlierDeaths: number;
  readonly ranForMs: number;
  /** True when there never was a process. */
  readonly couldNotStart?: boolean;
}

export type RestartDecision =
  | { readonly kind: 'restart'; readonly deaths: number; readonly delayMs: number }
  | { readonly kind: 'give-up'; readonly deaths: number };

export function decideRestart(
  policy: RestartPolicy,
  death: Death,
  random: Random,
): RestartDecision {
  const deaths = (death.ranForMs >= policy.healthyAfterMs ? 0 : death.earlierDeaths) + 1;
  if (deaths > policy.attemptsMax && death.couldNotStart !== true)
    return { kind: 'give-up', deaths };
  return { kind: 'restart', deaths, delayMs: backoffMs(policy, deaths, random) };
}

/** Up to a fifth is taken off at random, so that what died together does not start together. */
export function backoffMs(
  limits: Pick<RestartPolicy, 'backoffMinMs' | 'backoffMaxMs'>,
  attempt: number,
  random: Random,
): number {
  const { backoffMinMs, backoffMaxMs } = limits;
  const fullMs = Math.min(backoffMaxMs, backoffMinMs * 2 ** Math.min(attempt - 1, 30));
  const jitterMs = random.below(Math.floor(fullMs / 5) + 1);
  return Math.max(Math.min(backoffMinMs, backoffMaxMs), fullMs - jitterMs);
}
