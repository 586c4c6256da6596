import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { EngineError, hasCode } from '../../../src/base/errors.ts';
import { encodeValue } from '../../../src/wire/values.ts';

const room = new Uint8Array(1024);

suite('values that would change are refused', () => {
  class Money {
    readonly cents = 1;
  }
  const sparse: unknown[] = [1];
  sparse[2] = 3;
  let deep: unknown = {};
  for (let level = 0; level < 300; level += 1) deep = { deep };

  const cycle: Record<string, unknown> = { zero: -0 };
  cycle['self'] = cycle;
  const list: unknown[] = [];
  list.push([list]);
  const map = new Map<string, unknown>();
  map.set('a', { map });

  const rows: [string, unknown][] = [
    ['value.self: what contains itself cannot be sent', cycle],
    ['value[0][0]: what contains itself cannot be sent', list],
    ['value.values()[0].map: what contains itself cannot be sent', map],
    [
      'value: what throws while it is read cannot be sent (no luck)',
      {
        get a() {
          throw new Error('no luck');
        },
      },
    ],
    ['value: an object of class Number cannot be sent', Object(1)],
    ['value: an object of class List cannot be sent', new (class List extends Array {})()],
    ['value: an object of class Table cannot be sent', new (class Table extends Map {})()],
    ['value.at: an object of class Day cannot be sent', { at: new (class Day extends Date {})() }],
    ['value: an object of class DataView cannot be sent', new DataView(new ArrayBuffer(1))],
    ['value: an object of class URL cannot be sent', new URL('http://host')],
    ['value: a function cannot be sent', () => 1],
    ['value: a symbol cannot be sent', Symbol('s')],
    ['value.items[3].callback: a function cannot be sent', { items: [1, 2, 3, { callback() {} }] }],
    ['value["two words"]: a symbol cannot be sent', { 'two words': Symbol('s') }],
    ['value.values()[0]: a function cannot be sent', new Map([['key', () => 1]])],
    [
      'value.keys()[1].f: a function cannot be sent',
      new Map([
        [{}, 1],
        [{ f: () => 1 }, 1],
      ]),
    ],
    ['value.values()[1]: a function cannot be sent', new Set([1, () => 1])],
    ['value[1]: a hole in an array cannot be sent', sparse],
    ['value: half of a surrogate pair cannot be sent', '\ud800'],
    ['value: half of a surrogate pair cannot be sent', `${'x'.repeat(100)}\udc00`],
    ['value[1]: half of a surrogate pair cannot be sent', ['a', 'a\udc00b']],
    ['value.a: half of a surrogate pair cannot be sent', { a: '\ud800' }],
    ['value["\\ud800"]: a property with half of a surrogate pair cannot be sent', { '\ud800': 1 }],
    ['value.__proto__: a property of this name cannot be sent', JSON.parse('{"__proto__":1}')],
    ['value: a property whose key is a symbol cannot be sent', { [Symbol('s')]: 1 }],
    ['value: an object of class Money cannot be sent', new Money()],
    ['value[0]: an object of class Error cannot be sent', [new Error('no')]],
    ['value.at: an object of class RegExp cannot be sent', { at: /x/ }],
    ['value: an object of class Promise cannot be sent', Promise.resolve()],
    ['value: an object of class ArrayBuffer cannot be sent', new ArrayBuffer(1)],
  ];
  for (const [message, value] of rows) {
    test(message, () => {
      assert.throws(
        () => encodeValue(value, room, 0),
        (error) => {
          assert.ok(error instanceof EngineError);
          assert.equal(error.message, message);
          assert.equal(error.code, 'VALUE_NOT_SERIALIZABLE');
          assert.equal(error.domain, 'user');
          return true;
        },
      );
    });
  }

  test('what is nested too deeply', () => {
    assert.throws(
      () => encodeValue(deep, room, 0),
      (error) =>
        hasCode(error, 'VALUE_NOT_SERIALIZABLE') &&
        error.message.endsWith('256 deep cannot be sent'),
    );
  });
});
