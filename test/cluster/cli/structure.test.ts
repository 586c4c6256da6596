import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodePhysicalPlan } from '../../../src/wire/physical-plan.ts';
import { HeronCommand } from '../../support/heron-command.ts';

/*
  Heron's tests of a topology's structure: what its physical plan says after a submit, and after
  commands that must not change it. Compared are the number of instances of each component, the
  components that each bolt reads from, and the state. Those that scale need `heron update`.
*/

const TOPOLOGIES = join(import.meta.dirname, 'fixtures/topologies');
const HERE = 'local/tester/dev';
/** On a machine that is busy with other tests. */
const PATIENTLY = ['--timeout', '120'] as const;

async function structureOf(heron: HeronCommand) {
  const file = join(heron.dataRoot, 'repository/state/local/pplans/fields');
  const { topology, instances } = decodePhysicalPlan(await readFile(file));
  const count = (name: string): number =>
    instances.filter(({ component }) => component === name).length;
  const inputsOf = (component: (typeof topology.components)[number]): readonly string[] =>
    component.kind === 'bolt' ? component.inputs.map((input) => input.component) : [];
  return {
    state: topology.state,
    components: Object.fromEntries(
      topology.components.map((component) => [
        component.name,
        { tasks: count(component.name), reads: inputsOf(component) },
      ]),
    ),
  };
}

const COMPONENTS = {
  'ab-spout': { tasks: 1, reads: [] },
  'count-bolt': { tasks: 2, reads: ['ab-spout'] },
  'sum-bolt': { tasks: 1, reads: ['count-bolt'] },
};

test('the structure of a topology stands whatever it goes through', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const succeed = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await heron.run(...args);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  };
  const submit = ['submit', HERE, 'structure.ts', 'fields', ...PATIENTLY];
  await succeed(...submit, '--config-property', 'topology.stmgrs=2');

  await t.test('FieldsGrouping', async () => {
    assert.deepEqual(await structureOf(heron), { state: 'RUNNING', components: COMPONENTS });
  });

  await t.test('FieldsGroupingDeactivate', async () => {
    await succeed('deactivate', HERE, 'fields');
    assert.deepEqual(await structureOf(heron), { state: 'PAUSED', components: COMPONENTS });
    await succeed('activate', HERE, 'fields');
    assert.deepEqual(await structureOf(heron), { state: 'RUNNING', components: COMPONENTS });
  });

  await t.test('FieldsGroupingKillContainer', async () => {
    await succeed('restart', HERE, 'fields', '1', ...PATIENTLY);
    assert.deepEqual(await structureOf(heron), { state: 'RUNNING', components: COMPONENTS });
  });

  await succeed('kill', HERE, 'fields');
});
