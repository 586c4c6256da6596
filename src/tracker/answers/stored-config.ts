import { z } from '@hono/zod-openapi';
import { redacted } from '../../config/redacted.ts';
import { ConfigValueType } from '../../wire/generated/topology_pb.js';
import type { TopologyMessage } from '../../wire/topology.ts';
import { javaScalar } from './java-scalar.ts';

/*
  The config of a topology or of a component as it is stored, for people. Values of other languages
  are there too, as far as they are plain ones. What may be a secret is not shown (R18).
*/

export const configSchema = z.record(z.string(), z.union([z.string(), z.number()]));

export type ShownConfig = z.output<typeof configSchema>;

type ConfigMessage = TopologyMessage['topologyConfig'];
type EntryMessage = NonNullable<ConfigMessage>['kvs'][number];

const RUNTIME_SUFFIX = /:runtime$/;

export function configOf(message: ConfigMessage): ShownConfig {
  // A Map first: a key may be one that objects have already.
  const shown = new Map((message?.kvs ?? []).map((entry) => [entry.key, shownValue(entry)]));
  return Object.fromEntries(shown);
}

function shownValue({ key, value, type, serializedValue }: EntryMessage): string | number {
  const meant = key.replace(RUNTIME_SUFFIX, '');
  if (serializedValue.length === 0) return redacted(meant, value);
  const isJava = type === ConfigValueType.JAVA_SERIALIZED_VALUE;
  const scalar = isJava ? javaScalar(serializedValue) : undefined;
  if (scalar === undefined) {
    return `(a ${isJava ? 'Java' : 'Python'} object of ${serializedValue.length} bytes)`;
  }
  const text = redacted(meant, String(scalar));
  return typeof scalar === 'number' && text === String(scalar) ? scalar : text;
}
