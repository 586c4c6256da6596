import type { Cluster } from '../../support/cluster.ts';
import type { Call, Choice, Switchboard } from '../../support/switchboard.ts';

/* What befalls a cluster of real processes, drawn from a seed. */

const PAUSE_MIN_MS = 500;
const PAUSE_MAX_MS = 3_000;
const DELAY_MAX_MS = 400;
/** Enough for most of what dies to be back, and not for all. */
const GAP_MIN_MS = 1_000;
const GAP_MAX_MS = 4_000;

/** Mulberry32 by Tommy Ettinger (public domain): one 32-bit state, good enough to choose faults. */
export class SeededChoice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(from: number, to: number): number {
    return Math.round(from + this.next() * (to - from));
  }

  of<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.next() * items.length)];
  }
}

/** A fault that has been chosen; whom it hits is decided when it strikes. */
export interface Fault {
  readonly kind: 'kill' | 'pause' | 'cut' | 'hold' | 'half-open' | 'delay';
  /** Of processes: part of a name. Of connections: between stream managers or with an instance. */
  readonly aim: string;
  /** Which of those that it may hit. */
  readonly pick: number;
  /** Of a pause, a hold, a half-open connection and a delay: how long. */
  readonly lastsMs: number;
  readonly delayMs: number;
  /** Until the next one. */
  readonly gapMs: number;
}

const KILLED = [
  'container_\\d_lines',
  'container_\\d_slow',
  'container_\\d_sink',
  'stmgr-',
  'stmgr-',
  'executor-[1-9]',
  'heron-tmanager',
  'metricsmgr-',
];
const PAUSED = ['container_\\d_lines', 'container_\\d_slow', 'container_\\d_sink', 'stmgr-'];
const KINDS = ['kill', 'kill', 'kill', 'pause', 'cut', 'hold', 'half-open', 'delay'] as const;

export function chooseFault(random: SeededChoice): Fault {
  const kind = random.of(KINDS) ?? 'kill';
  const isOfProcesses = kind === 'kill' || kind === 'pause';
  const aims = kind === 'kill' ? KILLED : isOfProcesses ? PAUSED : ['stmgr-', 'container_'];
  return {
    kind,
    aim: random.of(aims) ?? '',
    pick: random.next(),
    lastsMs: random.between(PAUSE_MIN_MS, PAUSE_MAX_MS),
    delayMs: random.between(1, DELAY_MAX_MS),
    gapMs: random.between(GAP_MIN_MS, GAP_MAX_MS),
  };
}

/** Lets a fault begin, and end in its time; what it did, undefined when nobody was there. */
export function strike(
  fault: Fault,
  { cluster, board }: { readonly cluster: Cluster; readonly board: Switchboard },
  later: (ms: number, call: () => void) => void,
): string | undefined {
  const { kind, aim, pick, lastsMs } = fault;
  if (kind === 'kill' || kind === 'pause') {
    const victims = cluster.processes().filter(({ name }) => new RegExp(`^${aim}`).test(name));
    const victim = victims[Math.floor(pick * victims.length)];
    if (victim === undefined) return undefined;
    if (!signal(victim.pid, kind === 'kill' ? 'SIGKILL' : 'SIGSTOP')) return undefined;
    if (kind === 'pause') later(lastsMs, () => void signal(victim.pid, 'SIGCONT'));
    return kind === 'kill' ? `kill ${victim.name}` : `pause ${victim.name} for ${lastsMs} ms`;
  }
  const calls = board.calls(({ from }) => from.startsWith(aim));
  const call = calls[Math.floor(pick * calls.length)];
  if (call === undefined) return undefined;
  const choice: Choice = (other) => other === call;
  const between = `${call.from} to ${call.host}:${call.port}`;
  if (kind === 'cut') {
    board.cut(choice);
    return `cut ${between}`;
  }
  begin(fault, board, choice);
  later(lastsMs, () => board.heal(choice));
  return `${kind} ${describe(fault, call)} for ${lastsMs} ms`;
}

function describe({ kind, delayMs }: Fault, { from, host, port }: Call): string {
  const between = `${from} to ${host}:${port}`;
  return kind === 'delay' ? `${between} by ${delayMs} ms` : between;
}

function begin({ kind, delayMs }: Fault, board: Switchboard, choice: Choice): void {
  if (kind === 'hold') board.hold(choice);
  else if (kind === 'half-open') board.halfOpen(choice);
  else board.delay(choice, delayMs);
}

/** False when there is no such process any more. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
