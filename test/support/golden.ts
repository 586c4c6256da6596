import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  create,
  createFileRegistry,
  type DescEnum,
  type DescField,
  type DescMessage,
  isFieldSet,
  type MessageShape,
  ScalarType,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { file_ckptmgr } from '../../src/wire/generated/ckptmgr_pb.js';
import { file_common } from '../../src/wire/generated/common_pb.js';
import { file_execution_state } from '../../src/wire/generated/execution_state_pb.js';
import { file_metrics } from '../../src/wire/generated/metrics_pb.js';
import { file_packing_plan } from '../../src/wire/generated/packing_plan_pb.js';
import { file_physical_plan } from '../../src/wire/generated/physical_plan_pb.js';
import { file_scheduler } from '../../src/wire/generated/scheduler_pb.js';
import { file_stats } from '../../src/wire/generated/stats_pb.js';
import { file_stmgr } from '../../src/wire/generated/stmgr_pb.js';
import { file_tmanager } from '../../src/wire/generated/tmanager_pb.js';
import { file_topology } from '../../src/wire/generated/topology_pb.js';
import { file_tuple } from '../../src/wire/generated/tuple_pb.js';

/* The bytes in test/golden, and the form in which their JSON shows a message. */

const root = join(import.meta.dirname, '../golden');

const registry = createFileRegistry(
  create(FileDescriptorSetSchema, {
    file: [
      file_common,
      file_execution_state,
      file_packing_plan,
      file_topology,
      file_physical_plan,
      file_tuple,
      file_stmgr,
      file_stats,
      file_tmanager,
      file_metrics,
      file_scheduler,
      file_ckptmgr,
    ].map((file) => file.proto),
  }),
);

/** The schema of any message of the .proto files. */
export function schemaOf(typeName: string): DescMessage {
  const schema = registry.getMessage(typeName);
  if (schema === undefined) throw new Error(`no message ${typeName}`);
  return schema;
}

export interface GoldenFile<Facts> {
  readonly name: string;
  readonly bytes: Buffer;
  readonly facts: Facts;
}

/** All pairs of .bin and .json in a folder. */
export function goldenFolder<Facts>(folder: string): GoldenFile<Facts>[] {
  return readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.bin'))
    .map((file) => {
      const name = `${folder}/${basename(file, '.bin')}`;
      const bytes = readFileSync(join(root, `${name}.bin`));
      return { name, bytes, facts: goldenJson(name) as Facts };
    });
}

export function goldenJson(name: string): unknown {
  return JSON.parse(readFileSync(join(root, `${name}.json`), 'utf8'));
}

export interface PacketFacts {
  readonly type: string;
  readonly reqid: string;
  readonly payload_length: number;
  readonly payload: unknown;
}

/** A golden packet without its framing. */
export interface GoldenPayload {
  readonly name: string;
  readonly type: string;
  readonly payload: Buffer;
  readonly facts: PacketFacts;
}

export function goldenPayloads(): GoldenPayload[] {
  return goldenFolder<PacketFacts>('packets').map(({ name, bytes, facts }) => ({
    name,
    type: facts.type,
    payload: bytes.subarray(bytes.length - facts.payload_length),
    facts,
  }));
}

/** A message as the golden JSON writes it. */
export function goldenForm(schema: DescMessage, message: MessageShape<DescMessage>): unknown {
  const fields = message as unknown as Readonly<Record<string, unknown>>;
  const shown: Record<string, unknown> = {};
  for (const field of schema.fields) {
    if (!isFieldSet(message, field)) continue;
    const value = fields[field.localName];
    shown[field.name] =
      field.fieldKind === 'list'
        ? (value as unknown[]).map((element) => elementForm(field, element))
        : elementForm(field, value);
  }
  return shown;
}

function elementForm(field: DescField, value: unknown): unknown {
  if (field.message !== undefined) {
    return goldenForm(field.message, value as MessageShape<DescMessage>);
  }
  if (field.enum !== undefined) return enumName(field.enum, value as number);
  if (field.scalar === ScalarType.BYTES) return Buffer.from(value as Uint8Array).toString('hex');
  return typeof value === 'bigint' ? String(value) : value;
}

function enumName(desc: DescEnum, value: number): string | undefined {
  return desc.values.find(({ number }) => number === value)?.name;
}
