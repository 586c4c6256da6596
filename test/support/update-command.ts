import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { TestContext } from 'node:test';
import { runCommandLine } from '../../src/cli/run-command-line.ts';
import type { LogicalTopology } from '../../src/model/logical-topology.ts';
import { type CommandLineEnd, runInProcess } from './command-line.ts';
import { PaperTopology } from './paper-topology.ts';
import { aBolt, anInput, aSpout, aTopology } from './topologies.ts';

/* `heron update` about a topology that runs on paper. */

export const HERE = 'local/tester/dev';
/** 1 words[0], 3 count[0] | 2 words[1], 4 count[1] */
export const TOPOLOGY = aTopology(
  [
    aSpout('words', { parallelism: 2 }),
    aBolt('count', [anInput('words', { kind: 'fields', fields: ['word'] })], { parallelism: 2 }),
  ],
  { 'topology.stmgrs': '2', 'topology.key.groups': '16' },
);
export const UP = ['--component-parallelism', 'count:3', '--container-number', '2'] as const;
export const DOWN = ['--component-parallelism', 'count:1'] as const;

export const aPaper = (t: TestContext, topology: LogicalTopology = TOPOLOGY) =>
  PaperTopology.create(t, topology);

export function update(paper: PaperTopology, ...args: readonly string[]): Promise<CommandLineEnd> {
  return runInProcess(paper.dataRoot, ['update', HERE, 'words', ...args]);
}

/** The same, with what it has said so far. */
export function begin(paper: PaperTopology, ...args: readonly string[]) {
  const stdout = new PassThrough();
  let said = '';
  stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const end = runCommandLine({
    args: ['update', HERE, 'words', ...args],
    stdout,
    stderr: new PassThrough().resume(),
    environment: { HERON_DATA: paper.dataRoot, HERON_CONFIG: join(paper.dataRoot, 'config') },
    interruption: new AbortController().signal,
  });
  return { end, said: () => said };
}

export interface Answer {
  readonly state?: string;
  readonly changed?: boolean;
  readonly changes?: readonly object[];
  readonly added?: readonly object[];
  readonly retired?: readonly object[];
  readonly update?: { readonly phase: string; readonly since: string } | null;
  readonly error?: { readonly code: string; readonly message: string; readonly next: string };
}

export function valueOf({ stdout }: CommandLineEnd): Answer {
  return JSON.parse(stdout) as Answer;
}
