/*
  Traces of tuples, apart from the tuples: where none is sampled, a tuple takes no room for one.
*/

const traceparents = new WeakMap<object, string>();

/** W3C's text of the span in which a tuple is executed; undefined without a sampled trace. */
export function traceparentOf(tuple: object): string | undefined {
  return traceparents.get(tuple);
}

/** For the engine. */
export function setTraceparent(tuple: object, traceparent: string): void {
  traceparents.set(tuple, traceparent);
}
