import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topologyName } from '../../../src/base/ids.ts';
import { differences } from '../../../src/model/compare-topologies.ts';
import type { DeclaredTopology } from '../../../src/model/logical-topology.ts';
import { aBolt, anInput, anOutput, aSpout, aTopology } from '../../support/topologies.ts';

const spout = aSpout('a', { outputs: [anOutput(['word', 'at'])] });
const bolt = aBolt('b', [anInput('a', { kind: 'fields', fields: ['word'] })], {
  config: new Map([['x', '1']]),
});
const stored = aTopology([spout, bolt], { p: '1', q: '2' });

function rebuilt(change: Partial<DeclaredTopology>): readonly string[] {
  return differences(stored, { ...stored, ...change });
}

function withBolt(change: object): readonly string[] {
  return rebuilt({ components: [spout, { ...bolt, ...change }] });
}

test('the same topology has no differences, in whatever order its settings are', () => {
  const config = new Map([
    ['q', '2'],
    ['p', '1'],
  ]);
  assert.deepEqual(rebuilt({ config }), []);
  assert.deepEqual(rebuilt(structuredClone(stored)), []);
});

test('names and settings', () => {
  assert.deepEqual(rebuilt({ name: topologyName('other') }), ["name was 'words', is 'other'"]);
  const config = new Map([
    ['p', '3'],
    ['a', '4'],
  ]);
  assert.deepEqual(rebuilt({ config }), [
    "a was absent, is '4'",
    "p was '1', is '3'",
    "q was '2', is absent",
  ]);
});

test('components that came, went, or changed places', () => {
  assert.deepEqual(rebuilt({ components: [spout] }), ["component 'b' is missing"]);
  assert.deepEqual(rebuilt({ components: [spout, bolt, aSpout('c')] }), ["component 'c' is new"]);
  assert.deepEqual(rebuilt({ components: [bolt, spout] }), [
    "order of components was 'a, b', is 'b, a'",
  ]);
});

test('every part of a component', () => {
  assert.deepEqual(withBolt({ parallelism: 2 }), ["component 'b': parallelism was '1', is '2'"]);
  assert.deepEqual(withBolt({ className: 'X' }), ["component 'b': class was 'TestBolt', is 'X'"]);
  assert.deepEqual(withBolt({ language: 'java' }), [
    "component 'b': language was 'typescript', is 'java'",
  ]);
  assert.deepEqual(withBolt({ outputs: [anOutput(['word', 'at'], 'late')] }), [
    "component 'b': streams was 'default(word)', is 'late(word, at)'",
  ]);
  assert.deepEqual(withBolt({ config: new Map([['x', '2']]) }), [
    "component 'b': x was '1', is '2'",
  ]);
  assert.deepEqual(withBolt({ inputs: [anInput('a', { kind: 'all' }, 'late')] }), [
    "component 'b': inputs was 'fields(word) of a.default', is 'all of a.late'",
  ]);
  assert.deepEqual(withBolt({ kind: 'spout' }), [
    "component 'b': kind was 'bolt', is 'spout'",
    "component 'b': inputs was 'fields(word) of a.default', is ''",
  ]);
});
