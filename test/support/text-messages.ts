import { environmentError } from '../../src/base/errors.ts';
import type { MessageType, RequestType } from '../../src/wire/message-type.ts';

/** A message whose payload is text, for tests of what does not look into messages. */
export function textMessage(typeName: string): MessageType<string> {
  return {
    typeName,
    encode: (value) => Buffer.from(value, 'latin1'),
    decode: (bytes) => {
      const text = Buffer.from(bytes).toString('latin1');
      if (text.startsWith('broken'))
        throw environmentError('PACKET_MALFORMED', 'broken on purpose');
      return text;
    },
  };
}

export function textRequest(name: string): RequestType<string, string> {
  return { request: textMessage(`${name}Request`), response: textMessage(`${name}Response`) };
}
