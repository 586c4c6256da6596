import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { linkEngine } from '../../src/package/link-engine.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A folder of source files from which `heron-ts` can be imported. */
export async function moduleFolder(
  t: TestContext,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const { path } = await temporaryFolder(t);
  await linkEngine(path);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), text);
  }
  return path;
}

/** The text of a module with a small topology of one spout and one bolt. */
export const SMALL_TOPOLOGY = `
import { BasicBolt, Spout, topology } from 'heron-ts';

class Words extends Spout.of({ default: ['word'] }) {
  override nextTuple() {
    this.emit({ word: 'heron' });
  }
}
class Sink extends BasicBolt.of({}) {
  override execute() {}
}

export default topology('small', (builder, [parallelism = '1']) => {
  const words = builder.setSpout('words', () => new Words());
  builder.setBolt('sink', () => new Sink(), { parallelism: Number(parallelism) })
    .shuffleGrouping(words);
});
`;
