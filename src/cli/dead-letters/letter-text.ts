import { inspect } from 'node:util';
import { messageOf } from '../../base/errors.ts';
import { isoTime } from '../../base/iso-time.ts';
import type { DeadLetter } from '../../model/dead-letter.ts';
import { decodeValue } from '../../wire/value-reader.ts';
import type { Output } from '../output.ts';
import { textTable } from '../text-table.ts';

/* Dead letters for people and for programs. What a letter holds may be anything: it is escaped. */

const ERROR_LETTERS_MAX = 60;
const BYTES_SHOWN_MAX = 64;
const VALUE_LINES = { depth: 8, maxStringLength: 4_000, maxArrayLength: 100, breakLength: 90 };
/** Where the second column begins. */
const INDENT = 12;

/** What `list --json` says of a letter. */
export interface ListedLetter {
  readonly id: string;
  readonly at: string;
  readonly component: string;
  readonly task: number;
  readonly container: number;
  readonly stream: string;
  readonly attempts: number;
  readonly messageId: string | null;
  readonly position: string | null;
  readonly reason: {
    readonly kind: string;
    readonly component: string | null;
    readonly task: number | null;
    readonly message: string | null;
    readonly stack: string | null;
  };
}

/** What `show --json` says of a letter. */
export interface ShownLetter extends ListedLetter {
  /** Null when they were left out because they are larger than a letter may be. */
  readonly values: readonly ShownValue[] | null;
}

export interface ShownValue {
  readonly field: string;
  /** As JavaScript shows it; null when the bytes are not of the engine's encoding. */
  readonly text: string | null;
  readonly base64: string;
}

export function listedLetter(letter: DeadLetter, container: number): ListedLetter {
  const { id, atMs, component, task, stream, attempts, messageId, position, reason } = letter;
  return {
    id,
    at: isoTime(atMs),
    component,
    task,
    container,
    stream,
    attempts,
    messageId: messageId ?? null,
    position: position ?? null,
    reason: {
      kind: reason.kind,
      component: reason.component ?? null,
      task: reason.task ?? null,
      message: reason.message ?? null,
      stack: reason.stack ?? null,
    },
  };
}

export function shownLetter(letter: DeadLetter, container: number): ShownLetter {
  const { fields, values, serialized } = letter;
  return {
    ...listedLetter(letter, container),
    values:
      values?.map((base64, index) => ({
        field: fields[index] ?? `${index}`,
        text: valueText(Buffer.from(base64, 'base64'), serialized),
        base64,
      })) ?? null,
  };
}

export function letterTable(letters: readonly ListedLetter[], output: Output): string {
  const rows = letters.map(({ id, at, component, task, attempts, reason }) => [
    id,
    at,
    `${component}/${task}`,
    `${attempts}`,
    `${reason.kind}${placeOf(reason)}`,
    brief(reason.message ?? ''),
  ]);
  return textTable(['ID', 'AT', 'TASK', 'ATTEMPTS', 'REASON', 'ERROR'], rows, output);
}

export function letterText(letter: ShownLetter, output: Output): string {
  const { id, at, component, task, container, stream, attempts, reason, values } = letter;
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  const facts: readonly (readonly [string, string | null])[] = [
    ['given up', `${at}, after ${tries}`],
    ['spout', `${component}, task ${task}, container ${container}`],
    ['stream', stream],
    ['position', letter.position],
    ['message id', letter.messageId],
    ['reason', `${reason.kind}${placeOf(reason)}`],
    ...(values === null
      ? [['values', 'left out: they are larger than a letter may be'] as const]
      : values.map(({ field, text, base64 }) => [field, text ?? `base64 ${base64}`] as const)),
  ];
  return [
    output.style('bold', id),
    ...facts.flatMap(([title, text]) => (text === null ? [] : factLines(title, text))),
    ...errorLines(reason),
  ].join('\n');
}

function factLines(title: string, text: string): readonly string[] {
  const [first = '', ...others] = text.split('\n').map(printable);
  return [
    `${printable(title).padEnd(INDENT)} ${first}`,
    ...others.map((line) => `${''.padEnd(INDENT)} ${line}`),
  ];
}

/** The stack begins with the message, as a rule. */
function errorLines({ message, stack }: ListedLetter['reason']): readonly string[] {
  const hasMessage = message === null || stack?.includes(message) === true;
  const text = [...(hasMessage ? [] : [message]), ...(stack === null ? [] : [stack])].join('\n');
  return text === '' ? [] : text.split('\n').map((line) => `    ${printable(line)}`);
}

function placeOf({ component, task }: ListedLetter['reason']): string {
  if (component === null) return '';
  return ` in ${component}${task === null ? '' : `/${task}`}`;
}

function brief(text: string): string {
  const [line = ''] = text.split('\n');
  const shown = printable(line);
  return shown.length <= ERROR_LETTERS_MAX ? shown : `${shown.slice(0, ERROR_LETTERS_MAX - 1)}…`;
}

/** Undefined as JSON's null: the bytes are shown as they are. */
function valueText(bytes: Uint8Array, isSerialized: boolean): string | null {
  let value: unknown;
  try {
    value = decodeValue(bytes, 0, bytes.length);
  } catch {
    return null;
  }
  if (!(value instanceof Uint8Array)) return inspect(value, VALUE_LINES);
  const whose = isSerialized ? " of the topology's own serializer" : '';
  return `${value.length} bytes${whose}: ${bytesText(value)}`;
}

/** As text where they are text: a record that could not be read is often nearly one. */
function bytesText(bytes: Uint8Array): string {
  try {
    return inspect(new TextDecoder('utf-8', { fatal: true }).decode(bytes), VALUE_LINES);
  } catch (error) {
    const more = bytes.length > BYTES_SHOWN_MAX ? '…' : '';
    const shown = Buffer.from(bytes.subarray(0, BYTES_SHOWN_MAX)).toString('hex');
    return `${shown}${more} (${messageOf(error)})`;
  }
}

/** Escapes what would move a terminal's cursor, save for tabs. */
function printable(line: string): string {
  return line.replaceAll(/(?!\t)\p{Cc}/gu, (letter) => {
    const code = letter.charCodeAt(0).toString(16).padStart(2, '0');
    return `\\x${code}`;
  });
}
