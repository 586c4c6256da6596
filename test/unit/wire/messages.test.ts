import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  goldenFolder,
  goldenForm,
  goldenJson,
  goldenPayloads,
  schemaOf,
} from '../../support/golden.ts';

/** The bytes give the expected values, and the values give the same bytes. */
function assertGolden(typeName: string, bytes: Uint8Array, payload: unknown): void {
  const schema = schemaOf(typeName);
  const message = fromBinary(schema, bytes);
  assert.deepEqual(goldenForm(schema, message), payload);
  assert.equal(hex(toBinary(schema, message)), hex(bytes));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

suite('the .proto files against the bytes of Heron', () => {
  test('every payload of every packet', () => {
    const payloads = goldenPayloads();
    assert.ok(payloads.length > 100);
    for (const { type, payload, facts } of payloads) assertGolden(type, payload, facts.payload);
  });

  test('every message type, with its required fields and with all fields', () => {
    interface Row {
      readonly type: string;
      readonly hex: string;
      readonly payload: unknown;
    }
    const rows = goldenJson('messages') as Row[];
    assert.equal(rows.length, 200);
    for (const row of rows) assertGolden(row.type, Buffer.from(row.hex, 'hex'), row.payload);
  });

  for (const folder of ['topology', 'state']) {
    test(`every file of ${folder}`, () => {
      const files = goldenFolder<{ type: string; payload: unknown }>(folder);
      assert.ok(files.length >= 7);
      for (const { bytes, facts } of files) assertGolden(facts.type, bytes, facts.payload);
    });
  }

  test('the questions and answers of the statistics port', () => {
    interface Exchange {
      readonly request_body: string;
      readonly request: unknown;
      readonly answer_body: string;
      readonly answer: unknown;
    }
    const types: Record<string, [string, string]> = {
      stats: ['MetricRequest', 'MetricResponse'],
      exceptions: ['ExceptionLogRequest', 'ExceptionLogResponse'],
      exceptionsummary: ['ExceptionLogRequest', 'ExceptionLogResponse'],
      stmgrsregistrationsummary: [
        'StmgrsRegistrationSummaryRequest',
        'StmgrsRegistrationSummaryResponse',
      ],
    };
    let exchanges = 0;
    for (const { name, facts } of goldenFolder<Exchange>('http')) {
      const [request, response] = types[/\/(\w+)-/.exec(name)?.[1] ?? ''] ?? [];
      if (request === undefined || response === undefined) continue; // A command, not protobuf.
      exchanges += 1;
      const typeName = (type: string): string => `heron.proto.tmanager.${type}`;
      assertGolden(typeName(request), Buffer.from(facts.request_body, 'hex'), facts.request);
      assertGolden(typeName(response), Buffer.from(facts.answer_body, 'hex'), facts.answer);
    }
    assert.equal(exchanges, 5);
  });
});
