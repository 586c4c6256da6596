import { type EngineError, userError } from '../../base/errors.ts';
import {
  type Fault,
  type FaultCommand,
  type FaultKind,
  type FaultPlan,
  PROCESS_ROLES,
} from './fault.ts';

/*
  Reads a plan that was printed by a failing run, or changed by hand. Whatever is not exactly a plan
  is refused by its place: a fault that silently does nothing would look like a run that passes.
*/

type FieldType =
  | 'milliseconds'
  | 'signed'
  | 'count'
  | 'boolean'
  | 'target'
  | 'targets'
  | 'ends'
  | readonly string[];

const COMMANDS: Readonly<Record<FaultCommand['command'], Readonly<Record<string, FieldType>>>> = {
  activate: {},
  deactivate: {},
  kill: {},
  restart: {},
  update: { component: 'count', parallelism: 'count' },
  resize: { containers: 'count' },
  configure: { value: 'count' },
};

const FIELDS: Readonly<Record<FaultKind, Readonly<Record<string, FieldType>>>> = {
  crash: { processes: 'targets' },
  'restart-storm': {
    process: 'target',
    times: 'count',
    afterMs: 'milliseconds',
    forMs: 'milliseconds',
  },
  pause: { process: 'target', forMs: 'milliseconds' },
  suspend: { forMs: 'milliseconds' },
  'slow-link': { between: 'ends', extraMs: 'milliseconds', forMs: 'milliseconds' },
  'drop-connection': { between: 'ends' },
  'half-open': { between: 'ends', forMs: 'milliseconds' },
  'black-hole': { between: 'ends', forMs: 'milliseconds' },
  partition: { between: 'ends', oneWay: 'boolean', forMs: 'milliseconds' },
  'slow-disk': { extraMs: 'milliseconds', forMs: 'milliseconds' },
  'full-disk': { forMs: 'milliseconds' },
  'store-outage': { how: ['failing', 'hanging'], forMs: 'milliseconds' },
  'clock-step': { byMs: 'signed' },
  'duplicate-master': {},
  command: { command: Object.keys(COMMANDS) },
};

const TARGET = new RegExp(`^(?:${[...PROCESS_ROLES, 'container'].join('|')})#\\d{1,6}$`);

/** @throws EngineError INVALID_ARGUMENT naming what is wrong and where. */
export function parseFaultPlan(text: string): FaultPlan {
  let plan: unknown;
  try {
    plan = JSON.parse(text);
  } catch (cause) {
    throw userError('INVALID_ARGUMENT', 'a fault plan is a JSON array: this is not JSON', cause);
  }
  if (!Array.isArray(plan)) throw wrong('a fault plan', 'a JSON array', plan);
  return plan.map((fault, index) => parseFault(fault, `faults[${index}]`));
}

/** On one line, for a command line: no apostrophe is ever part of it. */
export function faultPlanText(plan: FaultPlan): string {
  return JSON.stringify(plan);
}

function parseFault(value: unknown, path: string): Fault {
  if (typeof value !== 'object' || value === null) throw wrong(path, 'an object', value);
  const fields = value as Readonly<Record<string, unknown>>;
  const kind = fields['kind'];
  if (typeof kind !== 'string' || !Object.hasOwn(FIELDS, kind)) {
    throw wrong(`${path}.kind`, `one of ${Object.keys(FIELDS).join(', ')}`, kind);
  }
  const expected = {
    atMs: 'milliseconds',
    ...FIELDS[kind as FaultKind],
    ...commandFields(fields['command']),
  } as const;
  for (const [name, type] of Object.entries<FieldType>(expected)) {
    check(fields[name], type, `${path}.${name}`);
  }
  const optional = optionalField(fields);
  if (optional !== undefined && fields[optional.name] !== undefined) {
    check(fields[optional.name], optional.type, `${path}.${optional.name}`);
  }
  const known = new Set(['kind', optional?.name, ...Object.keys(expected)]);
  const unknown = Object.keys(fields).find((name) => !known.has(name));
  if (unknown !== undefined) throw wrong(`${path}.${unknown}`, 'nothing', fields[unknown]);
  return value as Fault;
}

/** Those of a known command; any other one is refused by its name. */
function commandFields(command: unknown): Readonly<Record<string, FieldType>> {
  const isKnown = typeof command === 'string' && Object.hasOwn(COMMANDS, command);
  return isKnown ? COMMANDS[command as FaultCommand['command']] : {};
}

function optionalField({
  kind,
  command,
}: {
  readonly kind?: unknown;
  readonly command?: unknown;
}): { readonly name: string; readonly type: FieldType } | undefined {
  if (command === 'restart') return { name: 'container', type: 'count' };
  if (kind === 'duplicate-master') return { name: 'nodeLostAfterMs', type: 'milliseconds' };
  return undefined;
}

function check(value: unknown, type: FieldType, path: string): void {
  switch (type) {
    case 'milliseconds':
      if (typeof value !== 'number' || !(value >= 0))
        throw wrong(path, 'a number from 0 up', value);
      return;
    case 'signed':
      if (typeof value !== 'number') throw wrong(path, 'a number', value);
      return;
    case 'count':
      if (!Number.isSafeInteger(value) || Number(value) < 0) {
        throw wrong(path, 'a whole number from 0 up', value);
      }
      return;
    case 'boolean':
      if (typeof value !== 'boolean') throw wrong(path, 'true or false', value);
      return;
    case 'target':
      if (typeof value !== 'string' || !TARGET.test(value)) {
        throw wrong(path, 'a process such as "instance#0"', value);
      }
      return;
    case 'targets':
      if (!Array.isArray(value)) throw wrong(path, 'a list of processes', value);
      value.forEach((target, index) => check(target, 'target', `${path}[${index}]`));
      return;
    case 'ends':
      if (!Array.isArray(value) || value.length !== 2) throw wrong(path, 'two lists', value);
      value.forEach((end, index) => check(end, 'targets', `${path}[${index}]`));
      return;
    default:
      if (!type.includes(String(value))) throw wrong(path, `one of ${type.join(', ')}`, value);
  }
}

function wrong(path: string, expected: string, value: unknown): EngineError {
  const text = JSON.stringify(value) ?? 'nothing';
  return userError('INVALID_ARGUMENT', `${path}: expected ${expected}, got ${text}`);
}
