import { types } from 'node:util';
import { messageOf } from '../../base/errors.ts';
import { isoTime } from '../../base/iso-time.ts';

/*
  A value of a tuple as a sample shows it: what JSON can say, and no more than a person reads. What
  JSON has no word for comes as text or as an object that names it:

    bigint, NaN, infinities  text         bytes  {"bytes": length, "hex": the first of them}
    Date                     ISO text     Map    {"map": [[key, value], …]}    Set  {"set": […]}
*/

/** Longer texts are cut. */
const TEXT_MAX = 1_024;
const HEX_BYTES_MAX = 64;
/** Of all objects, arrays and members of one value together: it bounds what a look costs. */
const PARTS_MAX = 500;
const DEPTH_MAX = 8;

/** Never throws, whatever the value is: an accessor of the user's may. */
export function sampledValue(value: unknown): unknown {
  try {
    return new Shortener().shorten(value, 0);
  } catch (error) {
    return `(cannot be shown: ${messageOf(error)})`;
  }
}

class Shortener {
  #parts = 0;

  shorten(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case 'string':
        return shortText(value);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'boolean':
        return value;
      case 'bigint':
        return shortText(value.toString());
      case 'object':
        return value === null ? null : this.#object(value, depth);
      case 'undefined':
        return null;
      case 'function':
      case 'symbol':
        return typeof value;
    }
  }

  #object(value: object, depth: number): unknown {
    if (depth >= DEPTH_MAX) return '…';
    if (value instanceof Uint8Array) return shortBytes(value);
    if (types.isDate(value)) return timeText(value.getTime());
    if (value instanceof Map) {
      return { map: this.#list(value, depth, (pair) => this.#list(pair as unknown[], depth + 1)) };
    }
    if (value instanceof Set) return { set: this.#list(value, depth) };
    if (Array.isArray(value)) return this.#list(value, depth);
    return this.#members(value as Readonly<Record<string, unknown>>, depth);
  }

  #list(
    values: Iterable<unknown>,
    depth: number,
    shorten = (value: unknown): unknown => this.shorten(value, depth + 1),
  ): readonly unknown[] {
    const list: unknown[] = [];
    for (const value of values) {
      if (!this.#hasRoom()) return [...list, '…'];
      list.push(shorten(value));
    }
    return list;
  }

  #members(record: Readonly<Record<string, unknown>>, depth: number): object {
    const members: [string, unknown][] = [];
    for (const name in record) {
      if (!Object.hasOwn(record, name)) continue;
      if (!this.#hasRoom()) {
        members.push(['…', '…']);
        break;
      }
      members.push([shortText(name), this.shorten(record[name], depth + 1)]);
    }
    return Object.fromEntries(members);
  }

  #hasRoom(): boolean {
    this.#parts += 1;
    return this.#parts <= PARTS_MAX;
  }
}

function shortText(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}

function timeText(wallMs: number): string {
  return Number.isNaN(wallMs) ? 'NaN' : isoTime(wallMs);
}

function shortBytes(bytes: Uint8Array): object {
  const { buffer, byteOffset, length } = bytes;
  const shown = Buffer.from(buffer, byteOffset, Math.min(length, HEX_BYTES_MAX));
  return { bytes: length, hex: `${shown.toString('hex')}${length > HEX_BYTES_MAX ? '…' : ''}` };
}
