import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

const REPOSITORY = join(import.meta.dirname, '../..');

/** A test as somebody writes it who has no test runner at all. */
const PROGRAM = `
  import { testTopology, testBolt, spoutFrom } from 'heron-ts/testing';
  import { wordCount, Count } from './test/testing/tested-components.ts';

  await using bolt = await testBolt(() => new Count(), { input: ['word'] });
  await bolt.send({ word: 'cow' });
  await using run = await testTopology(wordCount, {
    components: { sentences: spoutFrom(['the cow', 'the moon']) },
  });
  const { result } = await run.toCompletion();
  const runners = process.moduleLoadList.filter((name) => /test_runner|node:test/.test(name));
  console.log(JSON.stringify({ result, words: run.received('count').length, runners }));
`;

describe('the kit in a process of its own', () => {
  it('needs no test runner, and leaves nothing that keeps the process alive', async () => {
    const args = ['--input-type=module', '--eval', PROGRAM];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: REPOSITORY });
    assert.deepEqual(JSON.parse(stdout), { result: 'completed', words: 4, runners: [] });
  });
});
