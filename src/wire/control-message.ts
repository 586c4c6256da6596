import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  isFieldSet,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { messageOf } from '../base/errors.ts';
import { malformed } from './malformed.ts';
import type { MessageType, RequestType } from './message-type.ts';

/*
  Control messages: the generated code behind the MessageType interface.

  C1. What decode returns holds every required field, at every depth. The library checks that on
      writing only, so decode does it here.
  C2. What decode returns shares no memory with the bytes that it was read from.
*/

/** A message that is described by a .proto file. */
export interface ControlMessage<Schema extends DescMessage>
  extends MessageType<MessageShape<Schema>> {
  /** Makes a value to encode; fields that are left out are absent. */
  create(fields: MessageInitShape<Schema>): MessageShape<Schema>;
}

/** A request and a response that are described by a .proto file. */
export interface ControlRequest<Request extends DescMessage, Response extends DescMessage>
  extends RequestType<MessageShape<Request>, MessageShape<Response>> {
  readonly request: ControlMessage<Request>;
  readonly response: ControlMessage<Response>;
}

/** The name of a schema's message, known to the compiler. */
type NameOf<Schema extends DescMessage> = MessageShape<Schema>['$typeName'];

/** Declares a one-way message, or one that is stored. The compiler compares name and schema. */
export function message<Schema extends DescMessage>(
  typeName: NameOf<Schema>,
  schema: Schema,
): ControlMessage<Schema> {
  return {
    typeName,
    create: (fields) => create(schema, fields),
    encode: (value) => toBinary(schema, value),
    decode: (bytes) => decode(schema, bytes),
  };
}

/** Declares a request by its name, its schema and the schema of its response. */
export function request<Request extends DescMessage, Response extends DescMessage>(
  typeName: NameOf<Request>,
  requestSchema: Request,
  responseSchema: Response,
): ControlRequest<Request, Response> {
  return {
    request: message(typeName, requestSchema),
    response: message(responseSchema.typeName, responseSchema),
  };
}

function decode<Schema extends DescMessage>(
  schema: Schema,
  bytes: Uint8Array,
): MessageShape<Schema> {
  let value: MessageShape<Schema>;
  try {
    // The library lets fields of type bytes point into its input; the copy keeps C2.
    value = fromBinary(schema, new Uint8Array(bytes));
  } catch (cause) {
    throw malformed(`${schema.typeName} cannot be read: ${messageOf(cause)}`, cause);
  }
  const missing = missingField(schema, value);
  if (missing !== undefined) {
    throw malformed(`${schema.typeName} lacks its required field ${missing}`);
  }
  return value;
}

/** The path of the first required field that is absent, in the words of the .proto file. */
function missingField(schema: DescMessage, value: MessageShape<DescMessage>): string | undefined {
  // One cast for the loop: generated messages hold each field under its local name.
  const fields = value as unknown as Readonly<Record<string, unknown>>;
  for (const field of schema.fields) {
    if (!isFieldSet(value, field)) {
      if (field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED) return field.name;
      continue;
    }
    const child = childSchema(field);
    if (child === undefined) continue;
    const held = fields[field.localName];
    const children = (Array.isArray(held) ? held : [held]) as MessageShape<DescMessage>[];
    for (const [index, element] of children.entries()) {
      const missing = missingField(child, element);
      if (missing === undefined) continue;
      const place = Array.isArray(held) ? `${field.name}[${index}]` : field.name;
      return `${place}.${missing}`;
    }
  }
  return undefined;
}

function childSchema(field: DescField): DescMessage | undefined {
  if (field.fieldKind === 'message') return field.message;
  if (field.fieldKind === 'list' && field.listKind === 'message') return field.message;
  return undefined;
}
