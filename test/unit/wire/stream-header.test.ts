import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import { hasCode } from '../../../src/base/errors.ts';
import { componentName, streamName } from '../../../src/base/ids.ts';
import { StreamIdSchema } from '../../../src/wire/generated/topology_pb.js';
import { HeronDataTupleSetSchema } from '../../../src/wire/generated/tuple_pb.js';
import { StreamHeaders } from '../../../src/wire/stream-header.ts';

const name = fc.string({ unit: 'grapheme', maxLength: 60 });

suite('StreamHeaders', () => {
  test('a header is the first field of a set of its tuples', () => {
    fc.assert(
      fc.property(name, name, (component, id) => {
        const header = new StreamHeaders().of(componentName(component), streamName(id));
        const set = create(HeronDataTupleSetSchema, { stream: { id, componentName: component } });
        assert.deepEqual(header.bytes, toBinary(HeronDataTupleSetSchema, set));
      }),
    );
  });

  test('one stream has one header (H1), made or read, in any encoding', () => {
    fc.assert(
      fc.property(name, name, (component, id) => {
        const headers = new StreamHeaders();
        const bytes = toBinary(
          StreamIdSchema,
          create(StreamIdSchema, { id, componentName: component }),
        );
        const read = headers.read(bytes, 0, bytes.length);
        assert.equal(read.component, component);
        assert.equal(read.stream, id);
        assert.equal(headers.of(componentName(component), streamName(id)), read);
        const odd = Uint8Array.of(0x78, 1, ...bytes); // An unknown field in front.
        assert.equal(headers.read(odd, 0, odd.length), read);
        assert.equal(headers.read(odd, 0, odd.length), read);
        assert.equal(headers.read(bytes, 0, bytes.length), read);
      }),
    );
  });

  test('names that share their bytes in another split are different streams', () => {
    const headers = new StreamHeaders();
    const one = headers.of(componentName('ab'), streamName('c'));
    const other = headers.of(componentName('a'), streamName('bc'));
    assert.notEqual(one, other);
  });

  test('half of a StreamId is malformed, also behind a whole one', () => {
    const headers = new StreamHeaders();
    const bytes = Uint8Array.of(0x0a, 1, 0x73, 0x12, 1, 0x63);
    headers.read(bytes, 0, bytes.length);
    for (let end = 0; end < bytes.length; end += 1) {
      assert.throws(
        () => headers.read(bytes, 0, end),
        (error) => hasCode(error, 'PACKET_MALFORMED'),
      );
    }
  });

  test('a peer cannot fill memory with names', () => {
    const headers = new StreamHeaders();
    assert.throws(
      () => {
        for (let index = 0; index < 10_000; index += 1) {
          headers.of(componentName('c'), streamName(`s${index}`));
        }
      },
      (error) => hasCode(error, 'PACKET_MALFORMED'),
    );
  });
});
