import { environmentError } from '../../base/errors.ts';
import type {
  ExploredComponent,
  ExploredContainer,
  InstanceNumbers,
  ListedTopology,
  LogicalPlan,
} from './explored.ts';

/*
  What a Tracker answers, as far as `heron explore` reads it. Heron's older Trackers put each answer
  into an envelope, `{status, message, result}`; the newer ones and ours do not. Members of their
  plans that are not read here may have any form, or be missing.
*/

type Members = Readonly<Record<string, unknown>>;

/** The answer without its envelope. */
export function resultIn(answer: unknown): unknown {
  return isMembers(answer) && 'result' in answer && 'status' in answer ? answer['result'] : answer;
}

/** Why a request failed; undefined when nothing says so. */
export function failureIn(answer: unknown): string | undefined {
  if (typeof answer === 'string') return answer;
  if (!isMembers(answer)) return undefined;
  const text = answer['message'] ?? answer['detail'];
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** Of `/clusters`. */
export function clustersIn(answer: unknown): readonly string[] {
  return listOf(answer, 'the clusters').map((name) => textOf(name, 'the name of a cluster'));
}

/** Of `/topologies`: `{cluster: {role: {environ: [names]}}}`. */
export function topologiesIn(answer: unknown): readonly ListedTopology[] {
  return entriesOf(answer, 'the topologies').flatMap(([cluster, roles]) =>
    entriesOf(roles, 'the roles').flatMap(([role, environs]) =>
      entriesOf(environs, 'the environments').flatMap(([environ, names]) =>
        listOf(names, 'the names of topologies').map((name) => ({
          cluster,
          role,
          environ,
          name: textOf(name, 'the name of a topology'),
        })),
      ),
    ),
  );
}

/** Of `/topologies/logicalplan`, with the numbers of tasks of the physical plan. */
export function logicalPlanIn(answer: unknown, physicalPlan: unknown): LogicalPlan {
  const plan = membersOf(answer, 'a logical plan');
  const component = (type: 'spout' | 'bolt') => {
    const running = membersOf(optional(physicalPlan, `${type}s`) ?? {}, `running ${type}s`);
    return ([name, value]: readonly [string, unknown]): ExploredComponent => ({
      type,
      name,
      parallelism: listOf(running[name] ?? [], 'the instances of a component').length,
      inputs: listOf(optional(value, 'inputs') ?? [], 'the inputs of a bolt').map(inputIn),
      streams: listOf(optional(value, 'outputs') ?? [], 'the outputs of a component').map((each) =>
        textOf(membersOf(each, 'an output')['stream_name'], 'the name of a stream'),
      ),
    });
  };
  return {
    components: [
      ...entriesOf(plan['spouts'] ?? {}, 'the spouts').map(component('spout')),
      ...entriesOf(plan['bolts'] ?? {}, 'the bolts').map(component('bolt')),
    ],
  };
}

/** Of `/topologies/physicalplan`. */
export function containersIn(answer: unknown): readonly ExploredContainer[] {
  const plan = membersOf(answer, 'a physical plan');
  const spouts = new Set(
    entriesOf(plan['spouts'] ?? {}, 'the running spouts').flatMap(([, ids]) =>
      listOf(ids, 'the instances of a spout'),
    ),
  );
  const instances = entriesOf(plan['instances'] ?? {}, 'the instances');
  return entriesOf(plan['stmgrs'] ?? {}, 'the stream managers')
    .map(([id, value]) => {
      const manager = membersOf(value, 'a stream manager');
      const own = instances
        .filter(([, instance]) => streamManagerOf(instance) === id)
        .map(([name]) => name);
      const ofSpouts = own.filter((name) => spouts.has(name)).length;
      return {
        id: Number(/(\d+)$/.exec(id)?.[1] ?? Number.NaN),
        host: textOf(manager['host'] ?? '', 'the host of a stream manager'),
        port: numberOrNull(manager['port']),
        pid: numberOrNull(manager['pid']),
        instances: own,
        spouts: ofSpouts,
        bolts: own.length - ofSpouts,
      };
    })
    .toSorted((a, b) => a.id - b.id);
}

/** Of `/topologies/metrics`: `{metrics: {metric: {instance: text}}}`. */
export function numbersIn(answer: unknown): readonly InstanceNumbers[] {
  const byInstance = new Map<string, Map<string, number>>();
  const metrics = membersOf(answer, 'metrics')['metrics'] ?? {};
  for (const [metric, values] of entriesOf(metrics, 'metrics')) {
    for (const [instance, value] of entriesOf(values, 'the values of a metric')) {
      const number = Number(value);
      if (Number.isNaN(number) || value === '' || value === null) continue;
      const numbers = byInstance.get(instance) ?? new Map<string, number>();
      byInstance.set(instance, numbers.set(metric, number));
    }
  }
  return [...byInstance].map(([instance, numbers]) => ({ instance, numbers }));
}

function inputIn(value: unknown) {
  const input = membersOf(value, 'an input');
  return {
    component: textOf(input['component_name'], 'the component of an input'),
    stream: textOf(input['stream_name'], 'the stream of an input'),
  };
}

function streamManagerOf(instance: unknown): unknown {
  return optional(instance, 'stmgr_id') ?? optional(instance, 'stmgrId');
}

function optional(value: unknown, member: string): unknown {
  return isMembers(value) ? value[member] : undefined;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function entriesOf(value: unknown, what: string): readonly (readonly [string, unknown])[] {
  return Object.entries(membersOf(value, what));
}

function membersOf(value: unknown, what: string): Members {
  if (isMembers(value)) return value;
  throw strange(what);
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw strange(what);
}

function textOf(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw strange(what);
}

function strange(what: string): Error {
  return environmentError('NOT_EXPECTED', `the Tracker answered something else than ${what}`);
}
