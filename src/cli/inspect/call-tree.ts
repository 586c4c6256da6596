import { environmentError } from '../../base/errors.ts';

/*
  What a `.cpuprofile` file says, as a tree of calls with times: each node of the profile is a
  function in one place of the stack, each sample names the node that was on top and the time since
  the sample before. Written by another process, so it is read with care.
*/

export interface Call {
  readonly name: string;
  /** `<file>:<line>`; empty for what has none, such as the garbage collector. */
  readonly place: string;
  readonly selfMs: number;
  /** With everything that it called. */
  readonly totalMs: number;
  /** The longest first. */
  readonly calls: readonly Call[];
}

/** A function, wherever it stands in the stack. */
export interface HotFunction {
  readonly name: string;
  readonly place: string;
  readonly selfMs: number;
}

interface Node {
  readonly name: string;
  readonly place: string;
  readonly children: readonly number[];
  selfUs: number;
}

const US_PER_MS = 1_000;

/** The root of all calls. @throws EngineError NOT_EXPECTED when it is no profile */
export function callTreeOf(text: string): Call {
  const profile = parse(text);
  const nodes = new Map(listOf(profile['nodes']).map((node) => readNode(node)));
  const samples = listOf(profile['samples']);
  const deltas = listOf(profile['timeDeltas']);
  for (const [index, id] of samples.entries()) {
    const node = nodes.get(Number(id));
    // Clocks of processors differ a little: a time may be negative.
    if (node !== undefined) node.selfUs += Math.max(0, Number(deltas[index] ?? 0));
  }
  const [rootId] = nodes.keys();
  if (rootId === undefined) throw notAProfile();
  return callOf(rootId, nodes, new Set());
}

/** Functions by the time that they had for themselves; idle time is none of theirs. */
export function hottest(root: Call, countMax: number): readonly HotFunction[] {
  const byFunction = new Map<string, { name: string; place: string; selfMs: number }>();
  const add = ({ name, place, selfMs, calls }: Call): void => {
    const key = `${name}\n${place}`;
    const known = byFunction.get(key);
    if (known === undefined) byFunction.set(key, { name, place, selfMs });
    else known.selfMs += selfMs;
    for (const call of calls) add(call);
  };
  add(root);
  return [...byFunction.values()]
    .filter(({ name, selfMs }) => selfMs > 0 && !isIdle(name))
    .toSorted((one, other) => other.selfMs - one.selfMs)
    .slice(0, countMax);
}

/** V8's names for the time in which a thread does nothing, and for what is no function. */
export function isIdle(name: string): boolean {
  return name === '(idle)' || name === '(root)';
}

function callOf(id: number, nodes: ReadonlyMap<number, Node>, above: Set<number>): Call {
  const node = nodes.get(id);
  if (node === undefined || above.has(id)) throw notAProfile();
  above.add(id);
  const calls = node.children
    .map((child) => callOf(child, nodes, above))
    .toSorted((one, other) => other.totalMs - one.totalMs);
  above.delete(id);
  const selfMs = node.selfUs / US_PER_MS;
  const totalMs = calls.reduce((sum, call) => sum + call.totalMs, selfMs);
  return { name: node.name, place: node.place, selfMs, totalMs, calls };
}

function readNode(value: unknown): readonly [number, Node] {
  const { id, callFrame, children } = membersOf(value);
  const { functionName, url, lineNumber } = membersOf(callFrame);
  const place = typeof url === 'string' && url !== '' ? `${url}:${Number(lineNumber) + 1}` : '';
  const name =
    typeof functionName === 'string' && functionName !== '' ? functionName : '(anonymous)';
  const numbers = Array.isArray(children) ? children.map(Number) : [];
  return [Number(id), { name, place, children: numbers, selfUs: 0 }];
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return membersOf(JSON.parse(text));
  } catch {
    throw notAProfile();
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  throw notAProfile();
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw notAProfile();
}

function notAProfile(): Error {
  return environmentError('NOT_EXPECTED', 'what the container gave is no CPU profile');
}
