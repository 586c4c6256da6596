import type { Completion } from '../model/completion.ts';
import type { Cluster } from './cluster.ts';
import type { CommandContext } from './command-context.ts';
import { type ProcessEvent, ProcessEvents } from './process-events.ts';
import type { LaunchedTopology } from './submission.ts';
import { TopologyWatch } from './topology-watch.ts';

/** How a topology that ran came to its end. */
export type RunEnd =
  | { readonly kind: 'completed'; readonly completion: Completion }
  /** Another command has killed it. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'interrupted' }
  /** A process has used up its starts. */
  | { readonly kind: 'failed'; readonly event: ProcessEvent };

/** Follows a running topology to its end, and tells of every process that dies on the way. */
export function followRun(
  { topology, packingPlan }: LaunchedTopology,
  { stateManager }: Cluster,
  { interruption }: CommandContext,
  onEvent: (event: ProcessEvent) => void,
): Promise<RunEnd> {
  const events = new ProcessEvents();
  return new Promise((resolve) => {
    const settle = (end: RunEnd): void => {
      watch[Symbol.dispose]();
      interruption.removeEventListener('abort', onInterruption);
      resolve(end);
    };
    const consider = (): void => {
      const { reports, completion, exists } = watch.now;
      for (const event of events.take(reports)) {
        onEvent(event);
        if (event.state === 'failed') settle({ kind: 'failed', event });
      }
      if (completion?.topologyId === topology.id) settle({ kind: 'completed', completion });
      else if (!exists) settle({ kind: 'gone' });
    };
    const onInterruption = (): void => settle({ kind: 'interrupted' });
    const watch = new TopologyWatch({
      stateManager,
      name: topology.name,
      packingPlan,
      onChange: consider,
    });
    interruption.addEventListener('abort', onInterruption);
    if (interruption.aborted) onInterruption();
  });
}
