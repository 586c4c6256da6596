import type { SampleWish } from '../model/sample.ts';

/*
  What an executor asks a process of its container about that process itself, and what it is told.

    executor → child   a line on its standard input     {"id":7,"wish":{"kind":"profile",…}}
    child → executor   a line on its pipe of beats      {"id":7,"result":{"bytes":81234}}
                                                        {"id":7,"problem":"one sentence"}

  I1. Idle, it costs nothing: one end of a pipe that is held anyway is read, and what it takes to
      inspect is loaded with the first question.
  I2. A process does one thing at a time; a second question is answered with that.
  I3. Instances are asked through their gateway, which looks at the task's thread from outside, so
      that a task which blocks its thread can be looked at too. All others look at themselves.
  I4. Whatever goes wrong is a sentence in the answer; the process goes on.
*/

export type InspectionWish =
  | { readonly kind: 'stack' }
  | { readonly kind: 'heap-figures' }
  /** `file` is absolute; its folder exists. The same below. */
  | { readonly kind: 'profile'; readonly seconds: number; readonly file: string }
  | { readonly kind: 'heap'; readonly file: string }
  | ({ readonly kind: 'sample' } & SampleWish);

export interface InspectionRequest {
  readonly id: number;
  readonly wish: InspectionWish;
}

/** Of `stack` and `heap-figures`. */
export interface InspectionText {
  readonly text: string;
}

/** Of `profile` and `heap`. */
export interface InspectionFile {
  readonly bytes: number;
}

export type InspectionAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly problem: string };

/** A profile of 1,000 samples a second has some 20 bytes for each: 5 MB for so long. */
export const PROFILE_SECONDS_MAX = 300;

/** Undefined for a line that is no answer. */
export function parseAnswer(line: string): InspectionAnswer | undefined {
  try {
    const { id, result, problem } = Object(JSON.parse(line)) as Record<string, unknown>;
    if (typeof id !== 'number') return undefined;
    return typeof problem === 'string' ? { id, problem } : { id, result };
  } catch {
    return undefined; // The child wrote something else there, which is nobody's answer.
  }
}

/** Undefined for a line that is no request. Both ends are one version of the engine. */
export function parseRequest(line: string): InspectionRequest | undefined {
  try {
    const { id, wish } = Object(JSON.parse(line)) as Partial<InspectionRequest>;
    return typeof id === 'number' && wish !== undefined ? { id, wish } : undefined;
  } catch {
    return undefined; // Nobody can be told, without a number.
  }
}
