import type { Cluster } from '../../../support/cluster.ts';
import type { SeededChoice } from '../../../support/seeded-choice.ts';
import type { Call, Choice, Switchboard } from '../../../support/switchboard.ts';
import type { Commands } from './commands.ts';

/* What befalls a cluster of real processes, drawn from a seed. */

const LASTS_MIN_MS = 500;
const LASTS_MAX_MS = 3_000;
const DELAY_MAX_MS = 400;
/** Enough for most of what dies to be back, and not for all. */
const GAP_MIN_MS = 500;
const GAP_MAX_MS = 2_500;
/** Silence after which processes are taken for hung, and executors; a pause of `hang` is longer. */
export const CHILD_SILENCE_MS = 10_000;
export const EXECUTOR_SILENCE_MS = 15_000;
const HANG_MS = 20_000;

/** The state store, as far as it can be harmed. */
export interface Store {
  /** Ends every connection with it. */
  cut(): void;
  /** It says nothing until `goOn`, and its connections stay. */
  stop(): void;
  goOn(): void;
}

export interface World {
  readonly cluster: Cluster;
  readonly board: Switchboard;
  readonly commands: Commands;
  readonly store: Store | undefined;
}

/** A fault that has been chosen; whom it hits is decided when it strikes. */
export interface Fault {
  readonly kind: (typeof KINDS)[number];
  /** Of processes: what names begin with. Of connections: who has dialled. */
  readonly aims: readonly string[];
  /** Which of those that it may hit, and which of several things that it may do. */
  readonly pick: number;
  /** Of what does not last for ever. */
  readonly lastsMs: number;
  readonly delayMs: number;
  /** Until the next one. */
  readonly gapMs: number;
}

/** Commands are processes, too: killed at any step, they can be repeated. */
const COMMAND = '\\S+ \\S*bin/heron.mjs';
const PROCESSES = [
  'container_\\d_lines',
  'container_\\d_slow',
  'container_\\d_sink',
  'container_',
  'stmgr-',
  'stmgr-',
  'executor-[1-9]',
  'executor-0',
  'heron-tmanager',
  'metricsmgr-',
  'heron-metricscache',
  'scheduler',
  COMMAND,
];
const CALLERS = ['stmgr-', 'container_'];
/** How many die at the same moment. */
const KILLED_AT_ONCE = [1, 1, 2, 3] as const;
const LINKS = ['cut', 'hold', 'half-open', 'delay'] as const;
const KINDS = [
  ...(['kill', 'kill', 'kill', 'kill', 'kill', 'kill', 'pause', 'pause', 'hang'] as const),
  ...LINKS,
  ...(['update', 'update', 'restart', 'rest', 'store'] as const),
] as const;

export function chooseFault(random: SeededChoice): Fault {
  const kind = random.of(KINDS) ?? 'kill';
  const count = random.of(KILLED_AT_ONCE) ?? 1;
  const isOfLinks = LINKS.some((link) => link === kind);
  return {
    kind,
    aims: random.some(isOfLinks ? CALLERS : PROCESSES, kind === 'kill' ? count : 1),
    pick: random.next(),
    lastsMs: random.between(LASTS_MIN_MS, LASTS_MAX_MS),
    delayMs: random.between(1, DELAY_MAX_MS),
    gapMs: random.between(GAP_MIN_MS, GAP_MAX_MS),
  };
}

type Later = (ms: number, call: () => void) => void;

/**
 * Lets a fault begin, and end in its time.
 *
 * @returns what it did, one entry for each that it hit; none when nobody was there.
 */
export function strike(fault: Fault, world: World, later: Later): readonly string[] {
  const { kind, pick, lastsMs } = fault;
  const { commands, store } = world;
  switch (kind) {
    case 'kill':
      return kill(fault, world, later);
    case 'pause':
      return pause(fault, world, lastsMs, later);
    case 'hang':
      return pause(fault, world, HANG_MS, later);
    case 'update':
      return commands.update(pick);
    case 'restart':
      return commands.restart(victimOf(fault, 0, world)?.name);
    case 'rest':
      later(lastsMs, () => void commands.begin('activate'));
      return commands.begin('deactivate');
    case 'store':
      return harm(store, fault, later);
    case 'cut':
    case 'hold':
    case 'half-open':
    case 'delay':
      return troubleLink(kind, fault, world.board, later);
  }
}

function victimOf({ aims, pick }: Fault, which: number, { cluster }: World) {
  const aim = new RegExp(`^${aims[which] ?? ''}`);
  const victims = cluster.processes().filter(({ name }) => aim.test(name));
  return victims[Math.floor(pick * victims.length)];
}

function kill(fault: Fault, world: World, later: Later): readonly string[] {
  const killed: string[] = [];
  for (const which of fault.aims.keys()) {
    const victim = victimOf(fault, which, world);
    if (victim === undefined || !signal(victim.pid, 'SIGKILL')) continue;
    killed.push(`kill ${shortName(victim.name)}`);
    // Nobody but a command starts it again.
    if (victim.name === 'scheduler') later(fault.lastsMs, () => void world.commands.look());
  }
  return killed;
}

function pause(fault: Fault, world: World, ms: number, later: Later): readonly string[] {
  const victim = victimOf(fault, 0, world);
  if (victim === undefined || !signal(victim.pid, 'SIGSTOP')) return [];
  later(ms, () => void signal(victim.pid, 'SIGCONT'));
  return [`pause ${shortName(victim.name)} for ${ms} ms`];
}

/** Without the path of Node and what follows the command's own name. */
function shortName(name: string): string {
  return /bin\/heron\.mjs (\S+)/.exec(name)?.[1]?.replace(/^/, 'heron ') ?? name;
}

function harm(store: Store | undefined, fault: Fault, later: Later): readonly string[] {
  if (store === undefined) return [];
  if (fault.pick < 1 / 2) {
    store.cut();
    return ['cut the store'];
  }
  store.stop();
  later(fault.lastsMs, () => store.goOn());
  return [`the store is silent for ${fault.lastsMs} ms`];
}

function troubleLink(
  kind: (typeof LINKS)[number],
  { aims: [aim = ''], pick, lastsMs, delayMs }: Fault,
  board: Switchboard,
  later: Later,
): readonly string[] {
  const calls = board.calls(({ from }) => from.startsWith(aim));
  const call = calls[Math.floor(pick * calls.length)];
  if (call === undefined) return [];
  const choice: Choice = (other) => other === call;
  const between = betweenText(call);
  if (kind === 'cut') {
    board.cut(choice);
    return [`cut ${between}`];
  }
  if (kind === 'hold') board.hold(choice);
  else if (kind === 'half-open') board.halfOpen(choice);
  else board.delay(choice, delayMs);
  later(lastsMs, () => board.heal(choice));
  const how = kind === 'delay' ? ` by ${delayMs} ms` : '';
  return [`${kind} ${between}${how} for ${lastsMs} ms`];
}

function betweenText({ from, host, port }: Call): string {
  return `${from} to ${host}:${port}`;
}

/** False when there is no such process any more. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
