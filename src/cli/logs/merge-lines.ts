import type { LogLine } from './log-line.ts';

/**
 * One sequence of lines out of several, each of which is in the order of time. Holds one line of
 * each, so that logs of any size can be merged.
 */
export async function* mergeLines(
  sources: readonly AsyncIterator<LogLine>[],
): AsyncGenerator<LogLine, void> {
  const heads: { line: LogLine; readonly source: AsyncIterator<LogLine> }[] = [];
  // Together, as each may have to be waited for.
  const firsts = await Promise.all(sources.map((source) => source.next()));
  for (const [index, first] of firsts.entries()) {
    const source = sources[index];
    if (first.done !== true && source !== undefined) heads.push({ line: first.value, source });
  }
  while (heads.length > 0) {
    let earliest = 0;
    for (let at = 1; at < heads.length; at += 1) {
      if (timeAt(heads, at) < timeAt(heads, earliest)) earliest = at;
    }
    const head = heads[earliest];
    if (head === undefined) return;
    yield head.line;
    const next = await head.source.next();
    if (next.done === true) heads.splice(earliest, 1);
    else head.line = next.value;
  }
}

function timeAt(heads: readonly { readonly line: LogLine }[], index: number): number {
  return heads[index]?.line.timeMs ?? Number.POSITIVE_INFINITY;
}
