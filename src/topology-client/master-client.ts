import { environmentError, messageOf } from '../base/errors.ts';
import type { TopologyId, TopologyName } from '../base/ids.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import {
  QueryExceptions,
  QueryMetrics,
  QueryRegistrations,
  TopologyMasterLocation,
  type ValueOf,
} from '../wire/messages.ts';
import { TOKEN_HEADER } from '../wire/token-header.ts';

/*
  The two HTTP ports of a topology's master, as commands use them: control, which demands the
  topology's token, and statistics, which anyone may read.
*/

/** A master answers in milliseconds; one that does not is not there. */
const ANSWER_LIMIT_MS = 10_000;

export interface MasterPorts {
  readonly host: string;
  readonly controllerPort: number;
  readonly statsPort: number;
}

/** Undefined while no master of this topology lives. */
export async function findMaster(
  stateManager: StateManager,
  name: TopologyName,
  id: TopologyId,
): Promise<MasterPorts | undefined> {
  const bytes = await stateManager.read(paths.topologyMaster(name));
  return bytes === undefined ? undefined : masterIn(bytes, id);
}

/** What a location node says; undefined when it is about another topology. */
export function masterIn(bytes: Uint8Array, id: TopologyId): MasterPorts | undefined {
  const { topologyId, host, controllerPort, statsPort } = TopologyMasterLocation.decode(bytes);
  return topologyId === id ? { host, controllerPort, statsPort } : undefined;
}

export interface MasterCommand {
  /** The path of the control port. */
  readonly command: 'activate' | 'deactivate' | 'runtime_config/update';
  readonly topologyId: TopologyId;
  readonly token: string;
  /** For `runtime_config/update`: `[component:]key:value` each. */
  readonly runtimeConfig?: readonly string[];
}

/**
 * Resolves when the master has stored what is commanded.
 *
 * @throws EngineError TOPOLOGY_NOT_READY, NOT_AUTHORIZED, or CONNECTION_LOST when nobody answers.
 */
export async function commandMaster(
  { host, controllerPort }: MasterPorts,
  { command, topologyId, token, runtimeConfig = [] }: MasterCommand,
): Promise<void> {
  const query = new URLSearchParams({ topologyid: topologyId });
  for (const change of runtimeConfig) query.append('runtime-config', change);
  const url = `http://${bracketed(host)}:${controllerPort}/${command}?${query.toString()}`;
  const response = await ask(url, { headers: { [TOKEN_HEADER]: token } });
  const text = await response.text();
  if (response.ok) return;
  const refusal = `the topology master refused to ${command}: ${text}`;
  if (response.status === 403) throw environmentError('NOT_AUTHORIZED', refusal);
  throw environmentError('TOPOLOGY_NOT_READY', refusal, { retryable: true });
}

export type ReportedException = ValueOf<typeof QueryExceptions.response>['exceptions'][number];

/** What user code threw in one component, as far as the master has been told and still knows. */
export async function readExceptions(
  { host, statsPort }: MasterPorts,
  componentName: string,
): Promise<readonly ReportedException[]> {
  const body = QueryExceptions.request.encode(
    QueryExceptions.request.create({ componentName, instances: [] }),
  );
  const url = `http://${bracketed(host)}:${statsPort}/exceptions`;
  // A copy, because the library's bytes may lie in shared memory, which `fetch` does not take.
  const response = await ask(url, { method: 'POST', body: new Uint8Array(body) });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return response.ok ? QueryExceptions.response.decode(bytes).exceptions : [];
}

/** Everything: the tracker's way to ask for no interval. */
const SINCE_THE_START = -1n;

/** The totals of these metrics since the start, of each task that has any, by the name. */
export async function readMetrics(
  { host, statsPort }: MasterPorts,
  componentName: string,
  metric: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const interval = SINCE_THE_START;
  const query = { componentName, instanceId: [], metric: [...metric], interval };
  const body = QueryMetrics.request.encode(QueryMetrics.request.create(query));
  const url = `http://${bracketed(host)}:${statsPort}/stats`;
  const response = await ask(url, { method: 'POST', body: new Uint8Array(body) });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const values = new Map<string, number[]>();
  if (!response.ok) return values;
  for (const task of QueryMetrics.response.decode(bytes).metric) {
    for (const { name, value } of task.metric) {
      values.set(name, [...(values.get(name) ?? []), Number(value)]);
    }
  }
  return values;
}

/** Numbers by metric, for each instance by its id. */
export type TaskNumbers<Value> = ReadonlyMap<string, ReadonlyMap<string, Value>>;

/** The totals of these metrics since the start, of each task of a component by itself. */
export async function readTaskTotals(
  master: MasterPorts,
  componentName: string,
  metric: readonly string[],
): Promise<TaskNumbers<number>> {
  const interval = SINCE_THE_START;
  const query = { componentName, instanceId: [], metric: [...metric], interval };
  return await tasksIn(master, query, ({ value }) => (value === '' ? undefined : Number(value)));
}

/** What arrived in one minute of the wall clock. */
export interface MinuteNumber {
  /** In seconds since the epoch. */
  readonly startSeconds: number;
  /** A sum, a mean or the last value, as the metric is kept. */
  readonly value: number;
}

/** The same by the minute, newest first, of the minutes that overlap the last `seconds`. */
export async function readTaskMinutes(
  master: MasterPorts,
  componentName: string,
  { metric, seconds }: { readonly metric: readonly string[]; readonly seconds: number },
): Promise<TaskNumbers<readonly MinuteNumber[]>> {
  const interval = BigInt(seconds);
  const query = { componentName, instanceId: [], metric: [...metric], interval, minutely: true };
  return await tasksIn(master, query, ({ intervalValues }) =>
    intervalValues.map(({ value, interval: minute }) => ({
      startSeconds: Number(minute?.start ?? 0n),
      value: Number(value),
    })),
  );
}

type MetricQuery = Parameters<typeof QueryMetrics.request.create>[0];
type AnsweredMetric = ValueOf<typeof QueryMetrics.response>['metric'][number]['metric'][number];

async function tasksIn<Value>(
  { host, statsPort }: MasterPorts,
  query: MetricQuery,
  valueOf: (metric: AnsweredMetric) => Value | undefined,
): Promise<TaskNumbers<Value>> {
  const body = QueryMetrics.request.encode(QueryMetrics.request.create(query));
  const url = `http://${bracketed(host)}:${statsPort}/stats`;
  const response = await ask(url, { method: 'POST', body: new Uint8Array(body) });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!response.ok) return new Map();
  return new Map(
    QueryMetrics.response.decode(bytes).metric.map(({ instanceId, metric }) => {
      const numbers = new Map<string, Value>();
      for (const each of metric) {
        const value = valueOf(each);
        if (value !== undefined) numbers.set(each.name, value);
      }
      return [instanceId, numbers];
    }),
  );
}

/** Which stream managers of the plan have registered, and which have not. */
export async function readRegistrations({
  host,
  statsPort,
}: Pick<MasterPorts, 'host' | 'statsPort'>): Promise<{
  readonly registered: readonly string[];
  readonly absent: readonly string[];
}> {
  const body = QueryRegistrations.request.encode(QueryRegistrations.request.create({}));
  const url = `http://${bracketed(host)}:${statsPort}/stmgrsregistrationsummary`;
  const response = await ask(url, { method: 'POST', body: new Uint8Array(body) });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!response.ok) {
    const text = `the topology master at ${url} answered with status ${response.status}`;
    throw environmentError('TOPOLOGY_NOT_READY', text, { retryable: true });
  }
  const { registeredStmgrs, absentStmgrs } = QueryRegistrations.response.decode(bytes);
  return { registered: registeredStmgrs, absent: absentStmgrs };
}

async function ask(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
  } catch (cause) {
    const reason = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
    const text = `no answer from the topology master at ${url}: ${messageOf(reason)}`;
    throw environmentError('CONNECTION_LOST', text, { retryable: true, cause });
  }
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
