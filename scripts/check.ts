/*
  Everything that can be said about the code without running it. All checks run, whatever the others
  say; what one complains about is printed whole.
*/

import { availableParallelism } from 'node:os';
import { styleText } from 'node:util';
import { runScript, runTool, type ToolResult } from './tools.ts';

interface Check {
  readonly name: string;
  readonly run: () => Promise<ToolResult>;
}

/** The slow ones first, so that they do not run alone at the end. */
const CHECKS: readonly Check[] = [
  { name: 'types', run: () => runTool('tsc', ['--project', '.', ...typesCache()]) },
  { name: 'generated code', run: () => runScript('generate.ts', ['--check']) },
  {
    name: 'layers',
    run: () => runTool('depcruise', ['--config', '.dependency-cruiser.mjs', 'src']),
  },
  { name: 'dead code', run: () => runTool('knip', []) },
  { name: 'lint', run: () => runTool('oxlint', ['--deny-warnings']) },
  { name: 'style', run: () => runScript('tidy.ts') },
  { name: 'format', run: () => runScript('format.ts', ['--check']) },
];

/** What the compiler remembers of the last check. */
function typesCache(): readonly string[] {
  return ['--incremental', '--tsBuildInfoFile', '.cache/types.tsbuildinfo'];
}

let failed = 0;

async function report({ name, run }: Check): Promise<void> {
  const startMs = performance.now();
  const { passed, output } = await run();
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  const mark = passed ? styleText('green', '✔') : styleText('red', '✖');
  process.stdout.write(`${mark} ${name} (${seconds} s)\n`);
  if (passed) return;
  failed += 1;
  process.stdout.write(`${output.trimEnd().replaceAll(/^/gm, '    ')}\n`);
}

const waiting = [...CHECKS];

async function work(): Promise<void> {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    await report(check);
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, work));
process.stdout.write(
  failed === 0 ? 'all checks passed\n' : `${failed} of ${CHECKS.length} checks failed\n`,
);
process.exitCode = failed === 0 ? 0 : 1;
