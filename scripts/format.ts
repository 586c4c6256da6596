/* Writes every file in the project's format; with `--check` it only says which ones differ. */

import { runTool } from './tools.ts';

const write = process.argv.includes('--check') ? [] : ['--write'];
const { passed, output } = await runTool('biome', ['format', ...write]);
process.stdout.write(output);
process.exitCode = passed ? 0 : 1;
