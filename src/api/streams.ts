import { userError } from '../base/errors.ts';
import { streamName } from '../base/ids.ts';
import type { OutputStream } from '../model/logical-topology.ts';

/*
  Streams are run-time values, because types vanish: a component declares the names of its streams
  and fields as a plain object, and the types of what it may emit are inferred from that object.
*/

/**
 * The streams that a component emits to: for each name its fields, in the order in which values are
 * sent. Fields are a list of names (`['word']`: values of any type) or made by {@link fields}.
 */
export type StreamDeclarations = Readonly<Record<string, FieldDeclaration>>;

/** The fields of one stream. */
export type FieldDeclaration = readonly string[];

/** What a component declares that emits nothing. */
// oxlint-disable-next-line typescript/no-generated-empty-object-type -- Empty on purpose.
export type NoStreams = Readonly<Record<never, never>>;

/** Carries the values' types; exists for the compiler only. */
declare const typed: unique symbol;

/** A list of field names that also knows the types of their values. */
export type TypedFields<Names extends FieldDeclaration, Shape extends object> = Names & {
  readonly [typed]: { readonly names: Names; readonly shape: Shape };
};

/** Resolves to an error that the editor shows when a field of `Shape` has been left out. */
type EachNamed<Shape, Names extends FieldDeclaration> =
  Exclude<keyof Shape, Names[number]> extends never
    ? unknown
    : { readonly 'these fields have not been listed': Exclude<keyof Shape, Names[number]> };

/**
 * Declares fields together with the types of their values. Types have no order, so that the names
 * follow as values, each once, in the order in which they are sent.
 *
 * @example
 * ```ts
 * class Count extends BasicBolt.of({
 *   default: fields<{ word: string; count: number }>()('word', 'count'),
 * }) {}
 * ```
 */
export function fields<Shape extends object>() {
  return <const Names extends readonly (keyof Shape & string)[]>(
    ...names: Names & EachNamed<Shape, Names>
  ): TypedFields<Names, Shape> =>
    // The mark for the compiler is not there at run time.
    Object.freeze([...names]) as unknown as TypedFields<Names, Shape>;
}

/** The names of a component's streams. */
export type StreamOf<Outputs> = keyof Outputs & string;

/** The tuples of a stream by field name. Fields that were declared without a type are `unknown`. */
export type ShapeOf<Fields> =
  Fields extends TypedFields<FieldDeclaration, infer Shape>
    ? Shape
    : Fields extends FieldDeclaration
      ? { readonly [Field in Fields[number]]: unknown }
      : never;

/** The tuples of a stream by position. */
type PositionsOf<Fields> =
  Fields extends TypedFields<infer Names, infer Shape>
    ? {
        readonly [Index in keyof Names]: Names[Index] extends keyof Shape
          ? Shape[Names[Index]]
          : never;
      }
    : Fields extends FieldDeclaration
      ? { readonly [Index in keyof Fields]: unknown }
      : never;

/** The values of a stream in the order of the declaration. */
export type ValuesInOrderOf<Outputs, Stream> = Stream extends keyof Outputs
  ? Extract<PositionsOf<Outputs[Stream]>, readonly unknown[]>
  : readonly unknown[];

/** What may be emitted to a stream: values by field name, or in the order of the declaration. */
export type ValuesOf<Outputs, Stream> = Stream extends keyof Outputs
  ? Readonly<ShapeOf<Outputs[Stream]>> | PositionsOf<Outputs[Stream]>
  : never;

/** What may be emitted without naming a stream. */
export type DefaultValuesOf<Outputs> = ValuesOf<Outputs, 'default'>;

/** The declared streams in order. */
export function toOutputStreams(outputs: StreamDeclarations): readonly OutputStream[] {
  return Object.entries(outputs).map(([name, names]) => {
    // For authors without a type checker: `default: 'word'` would pass for a list of letters.
    if (!Array.isArray(names) || names.some((field) => typeof field !== 'string')) {
      throw userError(
        'INVALID_TOPOLOGY',
        `stream '${name}' must be declared with a list of field names, such as ['word']`,
      );
    }
    return { stream: streamName(name), fields: Object.freeze([...names]) };
  });
}
