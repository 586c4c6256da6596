import assert from 'node:assert/strict';
import { stripVTControlCharacters } from 'node:util';
import { test } from 'node:test';
import { dryRunJson, dryRunText } from '../../../src/cli/dry-run.ts';
import type { PreparedTopology } from '../../../src/cli/prepare-topology.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { aTopology } from '../../support/topologies.ts';

const PLACE = { cluster: 'local', role: 'tester', environ: 'dev' };
const PLAIN = { style: (_style: unknown, text: string): string => text };
const topology = aTopology();
const prepared: PreparedTopology = {
  topology,
  packingPlan: packingPlanOf({ 1: ['sentences:1', 'count:3'], 2: ['split:2'] }),
  archivePath: '/nowhere',
  sources: [],
  warnings: ['mind the gap'],
};

test('table: containers with their tasks, in the units of the settings', () => {
  assert.deepEqual(dryRunText(prepared, PLACE, 'table', PLAIN).split('\n'), [
    `${topology.name} would run in local/tester/dev: 3 tasks in 2 containers, by round-robin`,
    'in all: 2 cores, 2048 MB of memory, 2048 MB of disk',
    '',
    'container 1: 1 core, 1024 MB of memory, 1024 MB of disk',
    'COMPONENT  TASK  CPU  RAM (MB)  DISK (MB)',
    'sentences  1     1    1024      1024',
    'count      3     1    1024      1024',
    '',
    'container 2: 1 core, 1024 MB of memory, 1024 MB of disk',
    'COMPONENT  TASK  CPU  RAM (MB)  DISK (MB)',
    'split      2     1    1024      1024',
    '',
    'nothing was started: this was a dry run',
  ]);
});

test('colored-table: the same with colours, whatever standard output is', () => {
  const coloured = dryRunText(prepared, PLACE, 'colored-table', PLAIN);
  const plain = dryRunText(prepared, PLACE, 'table', PLAIN);
  assert.notEqual(coloured, plain);
  assert.equal(stripVTControlCharacters(coloured), plain);
});

test('raw: exact numbers, a line for each container and task', () => {
  const gibibyte = 1024 ** 3;
  const amount = `cpu 1 ram ${gibibyte} disk ${gibibyte}`;
  assert.deepEqual(dryRunText(prepared, PLACE, 'raw', PLAIN).split('\n'), [
    'plan plan',
    `container 1 ${amount}`,
    `task 1 sentences 0 ${amount}`,
    `task 3 count 0 ${amount}`,
    `container 2 ${amount}`,
    `task 2 split 0 ${amount}`,
  ]);
});

test('json: what --json prints, for people to read', () => {
  const json = dryRunJson(prepared, PLACE);
  assert.deepEqual(JSON.parse(dryRunText(prepared, PLACE, 'json', PLAIN)), json);
  assert.equal(json.dryRun, true);
  assert.equal(json.initialState, 'RUNNING');
  assert.deepEqual(json.warnings, ['mind the gap']);
  assert.deepEqual(
    json.containers.map(({ id, tasks }) => [id, tasks.map(({ task }) => task)]),
    [
      [1, [1, 3]],
      [2, [2]],
    ],
  );
  assert.equal(json.total.cpuCores, 2);
});
