import { unreachable } from '../../base/assert.ts';
import type { Draw } from './draw.ts';
import type {
  BoltDescription,
  GroupingDescription,
  WorkloadDescription,
} from './workload-description.ts';

/** So many workloads of a hundred have some of it. */
const WORKLOADS_PERCENT = 40;

/**
 * Groupings, concurrent executes and ticks that came to the engine after its simulator. Drawn after
 * everything else, so that other workloads stay as they were. No workload becomes larger: what one
 * task got still goes to one task, what went to all of them to some.
 */
export function withLaterFeatures(
  draw: Draw,
  bolts: WorkloadDescription['bolts'],
): WorkloadDescription['bolts'] {
  if (!draw.chance(WORKLOADS_PERCENT)) return bolts;
  const inputs = bolts.flatMap((bolt) => bolt.inputs);
  const readersOf = (component: string, stream: string): number =>
    inputs.filter((input) => input.component === component && input.stream === stream).length;
  return bolts.map((bolt) => {
    const others = bolt.inputs.map((input) => {
      const isOnlyReader = readersOf(input.component, input.stream) === 1;
      const { parallelism } = bolt;
      const grouping = otherGrouping(draw, input.grouping, { parallelism, isOnlyReader });
      return { ...input, grouping };
    });
    return withTicks(draw, withConcurrency(draw, { ...bolt, inputs: others }));
  });
}

function otherGrouping(
  draw: Draw,
  grouping: GroupingDescription,
  reader: { readonly parallelism: number; readonly isOnlyReader: boolean },
): GroupingDescription {
  const direct = reader.isOnlyReader ? [{ kind: 'direct' } as const] : [];
  switch (grouping.kind) {
    case 'shuffle':
      return draw.oneOf<GroupingDescription>([
        grouping,
        { kind: 'none' },
        { kind: 'local-or-shuffle' },
        { kind: 'local-or-shuffle' },
        { kind: 'custom', copies: 1 },
        ...direct,
        ...direct,
      ]);
    case 'global':
      return draw.oneOf<GroupingDescription>([grouping, ...direct]);
    case 'all': {
      const copies = draw.between(1, reader.parallelism);
      return draw.oneOf<GroupingDescription>([grouping, { kind: 'custom', copies }]);
    }
    case 'fields':
    case 'none':
    case 'local-or-shuffle':
    case 'direct':
    case 'custom':
      return grouping;
    default:
      return unreachable(grouping);
  }
}

/** Delays below what the slowest bolts take: calls overlap, and the run is not much longer. */
function withConcurrency(draw: Draw, bolt: BoltDescription): BoltDescription {
  if (!draw.chance(30)) return bolt;
  const count = draw.betweenScales(2, 16);
  const order = draw.oneOf(['key', 'key', 'key', 'none']);
  return {
    ...bolt,
    style: { kind: 'async', afterMs: draw.between(1, 10) },
    concurrency: { count, order },
  };
}

function withTicks(draw: Draw, bolt: BoltDescription): BoltDescription {
  return draw.chance(25) ? { ...bolt, tickMs: draw.betweenScales(10, 1000) } : bolt;
}
