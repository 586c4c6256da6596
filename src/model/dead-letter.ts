import type { FailKind } from './fail-reason.ts';

/*
  Dead letters: messages of a spout that it has given up. Where they are kept:

    <working directory of the container>/dead-letters/
      <component>-<task>.jsonl                    letters and removals, a JSON object on each line
      <component>-<task>.<request>.request.json   what a command asks of the task
      <component>-<task>.<request>.answer.json    what the task did about it

  D1. While the topology is there, the task alone writes its `.jsonl`: it adds lines, and replaces
      the whole by a rename when removals have piled up or the limit of bytes is reached. Commands
      may replace or remove it once the topology is gone.
  D2. A letter is there until a line behind it names its id as removed. A line with an id that has
      been before is the same letter: the task repeats a write of which it does not know the end.
  D3. A crash may cut a line off anywhere; whoever writes next begins a new line. Readers skip what
      is no letter and no removal, and say how many lines that were.
  D4. A command makes a request under a temporary name and renames it, so that it is seen whole.
      The task removes it when it has been taken up; the answer, which is made in the same way, is
      there before. The command removes the answer.
*/

/** The folder below the working directory of each container. */
export const DEAD_LETTER_FOLDER = 'dead-letters';

/**
 * What a letter says about its failure: why its message failed last, or `unreadable` for a record
 * of the source that could not be made a tuple.
 */
export type DeadLetterKind = FailKind | 'unreadable';

export const DEAD_LETTER_KINDS: readonly DeadLetterKind[] = [
  'time-out',
  'explicit',
  'thrown',
  'lost-instance',
  'lost-stream-manager',
  'dropped',
  'unreadable',
];

/** Whether its value is the bytes of a record that could not be made a tuple. */
export function isRecordLetter({ fields, reason }: DeadLetter): boolean {
  return reason.kind === 'unreadable' && fields.length === 1 && fields[0] === RECORD_FIELDS[0];
}

export interface DeadLetterReason {
  readonly kind: DeadLetterKind;
  /** Where it failed; undefined where nobody could say. */
  readonly component: string | undefined;
  readonly task: number | undefined;
  readonly message: string | undefined;
  readonly stack: string | undefined;
}

/** In place of the fields of a stream, in the letter of a record that could not be made a tuple. */
export const RECORD_FIELDS: readonly string[] = ['record'];

/** A message that a spout has given up; also the JSON form, where undefined members are absent. */
export interface DeadLetter {
  /** Unique in the topology, of letters, digits and `-`. */
  readonly id: string;
  /** When it was given up: milliseconds since the epoch by the wall clock. */
  readonly atMs: number;
  readonly topology: string;
  /** The spout and its task. */
  readonly component: string;
  readonly task: number;
  readonly stream: string;
  /** Of the stream, in order; of an unreadable record it is RECORD_FIELDS. */
  readonly fields: readonly string[];
  /**
   * One for each field: the value in the engine's encoding, as it travels (wire/values.ts), in
   * base64. Undefined when they were left out because they are larger than a letter may be.
   */
  readonly values: readonly string[] | undefined;
  /** Each value is a byte string that the topology's own serializer has made. */
  readonly serialized: boolean;
  /** The message id as text; undefined where it was the position. */
  readonly messageId: string | undefined;
  /** Where the message is at its source, as JSON; undefined where the spout knows no positions. */
  readonly position: string | undefined;
  /** How often it has been emitted. */
  readonly attempts: number;
  readonly reason: DeadLetterReason;
}

/** What a command asks of a task. */
export interface DeadLetterRequest {
  /** Of the command's making: letters and digits, 32 at most. */
  readonly id: string;
  /** `replay`: emit them again; each goes once it has been processed. `purge`: remove them. */
  readonly action: 'replay' | 'purge';
  /** Ids; those that are not there are passed over. */
  readonly letters: 'all' | readonly string[];
  /** False: the task writes none. */
  readonly wantsAnswer: boolean;
}

export interface DeadLetterAnswer {
  /** How many letters are emitted again, or have been removed. */
  readonly count: number;
  /** Why nothing was done, for a person; undefined when the request was taken up. */
  readonly refusal: string | undefined;
}

/** What stands in a letter file. */
export interface DeadLetterFile {
  /** Those that are there, oldest first. */
  readonly letters: readonly DeadLetter[];
  /** Lines that are neither a letter nor a removal (D3). */
  readonly skippedLines: number;
}

/** `words-3.jsonl`. Names of components are made of letters that are safe in a file's name. */
export function deadLetterFileName(component: string, task: number): string {
  return `${component}-${task}.jsonl`;
}

/** The component and the task of a letter file's name; undefined for other names. */
export function parseDeadLetterFileName(
  name: string,
): { readonly component: string; readonly task: number } | undefined {
  const [, component, task] = /^(.+)-(\d{1,10})\.jsonl$/.exec(name) ?? [];
  if (component === undefined) return undefined;
  return { component, task: Number(task) };
}

export function deadLetterRequestFileName(
  component: string,
  task: number,
  requestId: string,
): string {
  return `${component}-${task}.${requestId}.request.json`;
}

export function deadLetterAnswerFileName(
  component: string,
  task: number,
  requestId: string,
): string {
  return `${component}-${task}.${requestId}.answer.json`;
}

/** The id of a request for this task; undefined when the name is of something else. */
export function requestIdOf(name: string, component: string, task: number): string | undefined {
  const start = `${component}-${task}.`;
  if (!name.startsWith(start)) return undefined;
  return /^([A-Za-z0-9]{1,32})\.request\.json$/.exec(name.slice(start.length))?.[1];
}

/** With its line's end. */
export function encodeDeadLetter(letter: DeadLetter): Uint8Array {
  return lineOf(letter);
}

/** The line by which letters go; with its end. */
export function encodeRemoval(ids: readonly string[]): Uint8Array {
  return lineOf({ removed: ids });
}

function lineOf(value: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value)}\n`);
}

/** Reads a letter file, whatever state a crash has left it in; never throws. */
export function parseDeadLetterFile(bytes: Uint8Array): DeadLetterFile {
  const letters = new Map<string, DeadLetter>();
  let skippedLines = 0;
  for (const line of linesOf(bytes)) {
    const value = parseObject(line);
    const letter = value && deadLetterOf(value);
    const removed = value?.['removed'];
    if (letter !== undefined) {
      if (!letters.has(letter.id)) letters.set(letter.id, letter);
    } else if (isListOf(removed, 'string')) for (const id of removed) letters.delete(id);
    else skippedLines += 1;
  }
  return { letters: [...letters.values()], skippedLines };
}

/** One after the other: the whole may be longer than a string can be. */
function* linesOf(bytes: Uint8Array): Generator<string> {
  const decoder = new TextDecoder();
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline;
    if (end > start) yield decoder.decode(bytes.subarray(start, end));
    start = end + 1;
  }
}

export function encodeDeadLetterRequest(request: DeadLetterRequest): Uint8Array {
  return lineOf(request);
}

/** Undefined when it is not one. */
export function parseDeadLetterRequest(bytes: Uint8Array): DeadLetterRequest | undefined {
  const value = parseObject(new TextDecoder().decode(bytes));
  if (value === undefined) return undefined;
  const { id, action, letters, wantsAnswer } = value;
  if (typeof id !== 'string' || typeof wantsAnswer !== 'boolean') return undefined;
  if (action !== 'replay' && action !== 'purge') return undefined;
  if (letters !== 'all' && !isListOf(letters, 'string')) return undefined;
  return { id, action, letters, wantsAnswer };
}

export function encodeDeadLetterAnswer(answer: DeadLetterAnswer): Uint8Array {
  return lineOf(answer);
}

/** Undefined when it is not one. */
export function parseDeadLetterAnswer(bytes: Uint8Array): DeadLetterAnswer | undefined {
  const value = parseObject(new TextDecoder().decode(bytes));
  if (value === undefined) return undefined;
  const { count, refusal } = value;
  if (typeof count !== 'number' || !isTextOrAbsent(refusal)) return undefined;
  return { count, refusal };
}

type Members = Readonly<Record<string, unknown>>;

function parseObject(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Members) : undefined;
  } catch {
    return undefined; // The caller counts it.
  }
}

function deadLetterOf(value: Members): DeadLetter | undefined {
  const { id, atMs, topology, component, task, stream, fields, values, serialized } = value;
  const { messageId, position, attempts } = value;
  const reason = reasonOf(value['reason']);
  if (typeof id !== 'string' || typeof atMs !== 'number' || typeof topology !== 'string') {
    return undefined;
  }
  if (typeof component !== 'string' || typeof task !== 'number') return undefined;
  if (typeof stream !== 'string' || !isListOf(fields, 'string')) return undefined;
  if (values !== undefined && !isListOf(values, 'string')) return undefined;
  if (typeof serialized !== 'boolean' || typeof attempts !== 'number') return undefined;
  if (!isTextOrAbsent(messageId) || !isTextOrAbsent(position)) return undefined;
  if (reason === undefined) return undefined;
  return {
    id,
    atMs,
    topology,
    component,
    task,
    stream,
    fields,
    values,
    serialized,
    messageId,
    position,
    attempts,
    reason,
  };
}

function reasonOf(value: unknown): DeadLetterReason | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { kind: name, component, task, message, stack } = value as Members;
  const kind = DEAD_LETTER_KINDS.find((known) => known === name);
  if (kind === undefined || !isTextOrAbsent(component)) return undefined;
  if (task !== undefined && typeof task !== 'number') return undefined;
  if (!isTextOrAbsent(message) || !isTextOrAbsent(stack)) return undefined;
  return { kind, component, task, message, stack };
}

function isListOf(value: unknown, type: 'string'): value is readonly string[] {
  return Array.isArray(value) && value.every((element) => typeof element === type);
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}
