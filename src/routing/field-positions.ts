/**
 * Where the named fields stand in a producer's schema, in the order of the names; unknown ones are
 * left out.
 */
export function positionsOf(
  fields: readonly string[],
  schema: readonly string[],
): readonly number[] {
  return fields.map((field) => schema.indexOf(field)).filter((position) => position !== -1);
}
