import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentName } from '../../../src/base/ids.ts';
import {
  effectiveConfig,
  parseRuntimeChange,
  type RuntimeChange,
  runtimeChangeProblems,
} from '../../../src/model/runtime-config.ts';
import { aTopology } from '../../support/topologies.ts';

test('a change is a key and a value, with a component before them or without', () => {
  const change = (component: string | undefined, key: string, value: string): RuntimeChange => ({
    component: component === undefined ? undefined : componentName(component),
    key,
    value,
  });
  assert.deepEqual(parseRuntimeChange('lines:3'), change(undefined, 'lines', '3'));
  assert.deepEqual(parseRuntimeChange('count:lines:3'), change('count', 'lines', '3'));
  assert.deepEqual(parseRuntimeChange(' count : a.b : c d '), change('count', 'a.b', 'c d'));
});

test('what is of another form is no change', () => {
  for (const text of ['', ':', 'lines', 'lines:', ':3', 'count::3', '::', 'a:b:c:d']) {
    assert.equal(parseRuntimeChange(text), undefined, text);
  }
});

test('what was changed last holds, and its mark is not seen', () => {
  const submitted = new Map([
    ['mine', '1'],
    ['other', '2'],
  ]);
  assert.equal(effectiveConfig(submitted), submitted);
  const changed = new Map([['added:runtime', '4'], ['mine:runtime', '3'], ...submitted]);
  assert.deepEqual(
    effectiveConfig(changed),
    new Map([
      ['mine', '3'],
      ['other', '2'],
      ['added', '4'],
    ]),
  );
});

const TABLE: readonly (readonly [text: string, problem: RegExp | undefined])[] = [
  ['topology.max.spout.pending:7', undefined],
  ['sentences:topology.max.spout.pending:7', undefined],
  ['mine:7', undefined],
  ['count:mine:anything at all', undefined],
  ['topology.max.spout.pending:many', /^topology\.max\.spout\.pending: expected a whole number/],
  ['topology.stmgrs:4', /^topology\.stmgrs is read when a process starts; it cannot change while/],
  ['heron.logging.maximum.files:3', /is read when a process starts/],
  ['heron.component.replays:true', /is the engine's own/],
  ['counts:mine:1', /^there is no component 'counts'; did you mean 'count'\?$/],
  [
    'topology.max.spout.pendign:7',
    /no setting 'topology\.max\.spout\.pendign'; did you mean 'topology\.max\.spout\.pending'\?/,
  ],
];

for (const [text, problem] of TABLE) {
  test(`'${text}' is ${problem === undefined ? 'taken' : 'refused with the reason'}`, () => {
    const change = parseRuntimeChange(text) ?? assert.fail();
    const [found, ...others] = runtimeChangeProblems([change], aTopology());
    assert.deepEqual(others, []);
    if (problem === undefined) assert.equal(found, undefined);
    else assert.match(found ?? '', problem);
  });
}
