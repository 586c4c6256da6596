import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { configOf } from '../../../../src/tracker/answers/stored-config.ts';
import * as proto from '../../../../src/wire/generated/topology_pb.js';

const { STRING_VALUE, JAVA_SERIALIZED_VALUE, PYTHON_SERIALIZED_VALUE } = proto.ConfigValueType;

test('texts are shown as they are, plain Java values as what they say', () => {
  const config = create(proto.ConfigSchema, {
    kvs: [
      { key: 'topology.stmgrs', value: '3', type: STRING_VALUE },
      {
        key: 'java.text',
        type: JAVA_SERIALIZED_VALUE,
        serializedValue: Buffer.from('aced0005740005776f726473', 'hex'),
      },
      { key: 'java.map', type: JAVA_SERIALIZED_VALUE, serializedValue: Buffer.alloc(9, 1) },
      { key: 'py', type: PYTHON_SERIALIZED_VALUE, serializedValue: Buffer.alloc(7, 1) },
      { key: '__proto__', value: 'x', type: STRING_VALUE },
    ],
  });
  assert.deepEqual(Object.entries(configOf(config)), [
    ['topology.stmgrs', '3'],
    ['java.text', 'words'],
    ['java.map', '(a Java object of 9 bytes)'],
    ['py', '(a Python object of 7 bytes)'],
    ['__proto__', 'x'],
  ]);
});

test('secrets are not shown, also when they were changed at run time or written by Java', () => {
  const config = create(proto.ConfigSchema, {
    kvs: [
      { key: 'db.password', value: 'hunter2' },
      { key: 'api.key:runtime', value: 'hunter2' },
      { key: 'url', value: 'https://me:hunter2@host/' },
      {
        key: 'java.secret',
        type: JAVA_SERIALIZED_VALUE,
        serializedValue: Buffer.from('aced0005740005776f726473', 'hex'),
      },
    ],
  });
  const shown = JSON.stringify(configOf(config));
  assert.doesNotMatch(shown, /hunter2|words/);
  assert.match(shown, /https:\/\/me:\(redacted\)@host/);
});

test('no config is an empty one', () => {
  assert.deepEqual(configOf(undefined), {});
});
