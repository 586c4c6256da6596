import { environmentError } from '../base/errors.ts';
import { type TopologyId, topologyId } from '../base/ids.ts';

/*
  What a topology leaves behind when its input has ended: the node `.heron-ts/completed/<topology>`.
  The topology master writes it once; the scheduler that sees it takes everything down; people and
  the CLI read it afterwards.

  An incident is the end of a process that carries data, or of its connection, once tuples flowed.
  What it means depends on `topology.reliability.mode`:

    at most once     each may have cost tuples: all of them are `incidents`
    at least once    tuples of spouts that replay (model/replaying-spouts.ts) came again, so it is
                     one of the `recovered` when it is of
                       - a spout that replays,
                       - a bolt that only spouts that replay reach, or
                       - a stream manager, and all spouts of the topology replay;
                     it is one of the `incidents` otherwise

  What a bolt kept in its memory is lost with its process in either mode; that is no loss of tuples,
  and the record says nothing of it. Nor does it of dead letters, which are kept elsewhere.
*/

/** `completed-with-losses`: there are incidents that may have cost tuples. */
export type CompletionResult = 'completed' | 'completed-with-losses';

/** One end of a process, or of its connection, on the way. */
export interface Incident {
  readonly atMs: number;
  readonly container: number;
  /** As the executor names it: `stmgr-1`, `container_1_words_3`. */
  readonly process: string;
  readonly reason: string;
}

export interface Completion {
  readonly topologyId: TopologyId;
  readonly completedAtMs: number;
  readonly result: CompletionResult;
  /** Those that may have cost tuples, oldest first. */
  readonly incidents: readonly Incident[];
  /** Those that have cost none, oldest first. */
  readonly recovered: readonly Incident[];
}

export function encodeCompletion(completion: Completion): Uint8Array {
  return Buffer.from(`${JSON.stringify(completion)}\n`);
}

/** Reads the node; throws STATE_CORRUPTED when it is not what `encodeCompletion` writes. */
export function parseCompletion(bytes: Uint8Array): Completion {
  const { topologyId: id, completedAtMs, result, incidents, ...later } = parseObject(bytes);
  if (typeof id !== 'string' || typeof completedAtMs !== 'number' || !Array.isArray(incidents)) {
    throw corrupted('a field is missing');
  }
  const { recovered = [] } = later; // Records of earlier versions have none.
  if (!Array.isArray(recovered)) throw corrupted('what was recovered is no list');
  if (result !== 'completed' && result !== 'completed-with-losses') {
    throw corrupted(`unknown result ${JSON.stringify(result)}`);
  }
  return {
    topologyId: topologyId(id),
    completedAtMs,
    result,
    incidents: incidents.map(incident),
    recovered: recovered.map(incident),
  };
}

function incident(value: unknown): Incident {
  const { atMs, container, process, reason } = recordOf(value);
  if (
    typeof atMs !== 'number' ||
    typeof container !== 'number' ||
    typeof process !== 'string' ||
    typeof reason !== 'string'
  ) {
    throw corrupted('an incident is not complete');
  }
  return { atMs, container, process, reason };
}

interface LooseFields {
  readonly topologyId?: unknown;
  readonly completedAtMs?: unknown;
  readonly result?: unknown;
  readonly incidents?: unknown;
  readonly recovered?: unknown;
  readonly atMs?: unknown;
  readonly container?: unknown;
  readonly process?: unknown;
  readonly reason?: unknown;
}

function parseObject(bytes: Uint8Array): LooseFields {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (cause) {
    throw corrupted('it is not JSON', cause);
  }
  return recordOf(value);
}

function recordOf(value: unknown): LooseFields {
  if (typeof value !== 'object' || value === null) throw corrupted('an object is expected');
  return value;
}

function corrupted(why: string, cause?: unknown): Error {
  return environmentError('STATE_CORRUPTED', `the record of a completed topology: ${why}`, {
    cause,
  });
}
