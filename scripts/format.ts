/* Writes every file in the project's format; with `--check` it only says which ones differ. */

import { runTool } from './tools.ts';

const mode = process.argv.includes('--check') ? '--reporter=summary' : '--write';
const { passed, output } = await runTool('biome', ['format', mode]);
process.stdout.write(output);
process.exitCode = passed ? 0 : 1;
