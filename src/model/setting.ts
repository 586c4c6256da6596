import { nonEmptyText, number, type SettingType, wholeNumber } from './setting-types.ts';

/* What a setting is, and how the tables of settings write theirs. */

export type SettingUnit = 'ms' | 's' | 'h' | 'bytes' | 'MiB' | 'cores' | 'count';

export interface Setting<Value, Default extends Value | undefined = Value | undefined> {
  readonly type: SettingType<Value>;
  /** undefined: without a value the engine works one out, or does without. */
  readonly default: Default;
  readonly unit?: SettingUnit;
  readonly doc: string;
  /** True when a running topology heeds a new value; all others are read when a process starts. */
  readonly isLive?: true;
}

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;

const SILENCE_MIN_MS = 1_000;

/** The longest wait that the platform's timers can hold: a longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function setting<Value>(
  type: SettingType<Value>,
  value: Value,
  unit: SettingUnit | undefined,
  doc: string,
): Setting<Value, Value> {
  return unit === undefined ? { type, default: value, doc } : { type, default: value, unit, doc };
}

/** One that has no default. */
export function optional<Value>(
  type: SettingType<Value>,
  unit: SettingUnit | undefined,
  doc: string,
): Setting<Value, undefined> {
  const base = { type, default: undefined, doc };
  return unit === undefined ? base : { ...base, unit };
}

/** One whose new value takes effect while the topology runs. */
export function live<Value, Default extends Value | undefined>(
  base: Setting<Value, Default>,
): Setting<Value, Default> {
  return { ...base, isLive: true, doc: `${base.doc} May change while the topology runs.` };
}

/** A text for people, stored with the topology; the engine does nothing with it. */
export const note = (doc: string): Setting<string, undefined> =>
  optional(nonEmptyText, undefined, doc);

export const milliseconds = (value: number, doc: string): Setting<number, number> =>
  setting(wholeNumber({ min: 1, max: LONGEST_TIMER_MS }), value, 'ms', doc);

/** How long somebody may say nothing; a busy machine alone makes anyone silent for a moment. */
export const silence = (value: number, doc: string): Setting<number, number> =>
  setting(wholeNumber({ min: SILENCE_MIN_MS, max: LONGEST_TIMER_MS }), value, 'ms', doc);

export const count = (value: number, doc: string): Setting<number, number> =>
  setting(wholeNumber({ min: 1 }), value, 'count', doc);

export const megabytes = (value: number, doc: string): Setting<number, number> =>
  setting(wholeNumber({ min: 1, max: KIB }), value, 'MiB', doc);

/** A buffer or window; the least size keeps one batch of 32 KiB in it with room to spare. */
export const buffer = (value: number, doc: string): Setting<number, number> =>
  setting(wholeNumber({ min: 64 * KIB, max: GIB }), value, 'bytes', doc);

export const port = wholeNumber({ min: 0, max: 65_535 });
export const memory = wholeNumber({ min: 1 });
export const cores = number({ min: 0 });
