import type { FieldDeclaration, ShapeOf, StreamOf } from './streams.ts';
import type { FieldOf, FieldValue, Tuple } from './tuple.ts';

/*
  The types by which the compiler compares what a bolt reads with what a source emits. A stream or a
  grouping field that is not there is refused by `validateTopology` too; the types make it known in
  the editor. What a bolt reads is known to the types alone: at run time `Tuple.get` throws.
*/

/** The stream of a source that is meant where none is named; never where it has no such stream. */
export type DefaultStreamOf<Outputs> = 'default' & StreamOf<Outputs>;

/** What a bolt reads, as its `execute` says. */
export type InputOf<Component> = Component extends { execute(tuple: Tuple<infer Shape>): unknown }
  ? Shape
  : never;

/**
 * The fields that a reader of `Wanted` does not find in a stream of `Offered`, or finds of another
 * type.
 */
type Misfits<Wanted, Offered> = string extends keyof Wanted
  ? never // It reads whatever comes.
  : {
      [Field in keyof Wanted & string]-?: Field extends keyof Offered
        ? unknown extends Offered[Field]
          ? never // Declared without a type.
          : Offered[Field] extends Wanted[Field]
            ? never
            : Field
        : Field;
    }[keyof Wanted & string];

/** Whether any of the shapes that a bolt reads (a union) is what a stream offers. */
type Fits<Wanted, Offered> = true extends (
  Wanted extends unknown
    ? [Misfits<Wanted, Offered>] extends [never]
      ? true
      : false
    : never
)
  ? true
  : false;

/**
 * Joined to the type of a source it changes nothing where the bolt can read the stream, and makes
 * an error that names the reason where it cannot.
 */
export type ReadableBy<Input, Outputs, Stream> = [Stream] extends [never]
  ? { readonly 'there is no default stream, name one of': StreamOf<Outputs> }
  : Stream extends keyof Outputs
    ? Fits<Input, ShapeOf<Outputs[Stream]>> extends true
      ? unknown
      : {
          readonly 'the bolt reads fields that the stream lacks or has with another type': Misfits<
            Input,
            ShapeOf<Outputs[Stream]>
          >;
        }
    : never;

/** What equal keys can be told by; objects, maps and sets have no canonical form. */
type GroupingKey = string | number | boolean | bigint | null | Uint8Array | readonly GroupingKey[];

/** The fields of a stream that tuples can be grouped by. */
export type KeyFieldOf<Outputs, Stream> = Stream extends keyof Outputs
  ? Outputs[Stream] extends FieldDeclaration
    ? KeyFieldOfShape<ShapeOf<Outputs[Stream]>>
    : never
  : never;

type KeyFieldOfShape<Shape> = {
  [Field in FieldOf<Shape>]: unknown extends FieldValue<Shape, Field>
    ? Field
    : FieldValue<Shape, Field> extends GroupingKey
      ? Field
      : never;
}[FieldOf<Shape>];
