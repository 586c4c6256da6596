import { environmentError, messageOf } from '../../base/errors.ts';
import { didYouMean } from '../../model/nearest.ts';
import { quotable } from '../../model/quotable.ts';
import { AdvisedError } from '../advised-error.ts';
import type { WrittenPlace } from '../place.ts';
import type {
  ExploredComponent,
  ExploredContainer,
  ExploredTopology,
  ExploreSource,
  InstanceNumbers,
  ListedTopology,
  LogicalPlan,
} from './explored.ts';
import { metricsOf } from './figures.ts';
import {
  clustersIn,
  containersIn,
  failureIn,
  logicalPlanIn,
  numbersIn,
  resultIn,
  topologiesIn,
} from './tracker-answers.ts';

/** Trackers read large topologies from a distance; a person waits no longer. */
const ANSWER_LIMIT_MS = 30_000;
/** Heron's Tracker takes it for "since the start". */
const SINCE_THE_START = '-1';

type Query = readonly (readonly [string, string])[];

/** Asks a Tracker: ours, or one of Heron's. */
export class TrackerSource implements ExploreSource {
  readonly #base: URL;

  constructor(base: URL) {
    this.#base = base;
  }

  async clusters(): Promise<readonly string[]> {
    return clustersIn(await this.#ask('clusters', []));
  }

  async topologies({ cluster, role, environ }: WrittenPlace): Promise<readonly ListedTopology[]> {
    const query: Query = [
      ['cluster', cluster],
      ...(role === undefined ? [] : ([['role', role]] as const)),
      ...(environ === undefined ? [] : ([['environ', environ]] as const)),
    ];
    return topologiesIn(await this.#ask('topologies', query)).filter(
      (topology) =>
        topology.cluster === cluster &&
        (role === undefined || topology.role === role) &&
        (environ === undefined || topology.environ === environ),
    );
  }

  async topology(place: WrittenPlace, name: string): Promise<ExploredTopology> {
    const known = await this.topologies(place);
    const found = known.find((topology) => topology.name === name);
    if (found === undefined) throw notThere(name, place, known);
    const about: Query = [
      ['cluster', found.cluster],
      ['environ', found.environ],
      ['topology', found.name],
      ['role', found.role],
    ];
    return new TrackedTopology(about, (path, query) => this.#ask(path, query));
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #ask(path: string, query: Query): Promise<unknown> {
    const url = new URL(path, this.#base);
    for (const [key, value] of query) url.searchParams.append(key, value);
    const { status, answer } = await get(url);
    if (status >= 200 && status < 300) return resultIn(answer);
    const why = failureIn(answer) ?? `status ${status}`;
    const text = `the Tracker at ${this.#base.origin} refused ${url.pathname}: ${why}`;
    throw new AdvisedError('NOT_EXPECTED', text, {
      domain: 'environment',
      next: 'without --tracker-url the same is read from the state store',
    });
  }
}

type Ask = (path: string, query: Query) => Promise<unknown>;

class TrackedTopology implements ExploredTopology {
  readonly #about: Query;
  readonly #ask: Ask;

  constructor(about: Query, ask: Ask) {
    this.#about = about;
    this.#ask = ask;
  }

  async logicalPlan(): Promise<LogicalPlan> {
    const logical = await this.#ask('topologies/logicalplan', this.#about);
    return logicalPlanIn(logical, await this.#ask('topologies/physicalplan', this.#about));
  }

  async containers(): Promise<readonly ExploredContainer[]> {
    return containersIn(await this.#ask('topologies/physicalplan', this.#about));
  }

  async metrics(component: ExploredComponent): Promise<readonly InstanceNumbers[]> {
    const names = metricsOf(component).map((name) => ['metricname', name] as const);
    const query = [
      ['component', component.name],
      ['interval', SINCE_THE_START],
    ] as const;
    return numbersIn(await this.#ask('topologies/metrics', [...this.#about, ...query, ...names]));
  }
}

async function get(url: URL): Promise<{ readonly status: number; readonly answer: unknown }> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    text = await response.text();
  } catch (cause) {
    const reason = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
    const problem = `no answer from the Tracker at ${url.origin}: ${messageOf(reason)}`;
    throw new AdvisedError('CONNECTION_LOST', problem, {
      domain: 'environment',
      retryable: true,
      cause,
      next: `'heron tracker' starts one; without --tracker-url the state store is read`,
    });
  }
  try {
    return { status: response.status, answer: JSON.parse(text) as unknown };
  } catch (cause) {
    if (!response.ok) return { status: response.status, answer: text.slice(0, 200) };
    const problem = `what answers at ${url.origin} is no Tracker: it is no JSON`;
    throw environmentError('NOT_EXPECTED', problem, { cause });
  }
}

function notThere(name: string, place: WrittenPlace, known: readonly ListedTopology[]) {
  const names = known.map((topology) => topology.name);
  const where = [place.cluster, place.role, place.environ].filter(Boolean).join('/');
  const hint = didYouMean(name, names);
  const text = `the Tracker knows no topology '${quotable(name)}' in ${where}${hint}`;
  return new AdvisedError('TOPOLOGY_NOT_FOUND', text, {
    domain: 'user',
    next: `'heron explore topologies ${place.cluster}' shows what there is`,
  });
}
