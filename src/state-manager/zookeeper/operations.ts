/*
  The requests of ZooKeeper's protocol, each with its layout in Jute (jute-writer.ts).

    Request => xid int  code int  body
    Answer  => xid int  zxid long  error int  body     the body only where error is 0

  Layouts stand above their codec as `request body -> answer body`.
*/

import { malformed, wholeNumber } from '../../wire/malformed.ts';
import type { JuteReader } from './jute-reader.ts';
import type { JuteWriter } from './jute-writer.ts';
import type { AccessRule, NodeChange, NodeData, NodeMode, NodeStat } from './node-records.ts';
import { errorOfAnswer } from './zookeeper-error.ts';

/** ZooKeeper's `ZooDefs.OpCode`. */
export const CODE = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getAccess: 6,
  setAccess: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  check: 13,
  multi: 14,
  credential: 100,
  setWatches: 101,
  closeSession: -11,
} as const;

/** Which type of a part ends a `multi`, and which reports its failure. */
const NO_CODE = -1;
/** In place of a version: whatever version the node has. */
const ANY_VERSION = -1;
/** The error of parts that were not tried because another one failed. */
const PART_NOT_TRIED = -2;

const MODE_FLAGS: Readonly<Record<NodeMode, number>> = {
  persistent: 0,
  ephemeral: 1,
  'persistent-sequential': 2,
  'ephemeral-sequential': 3,
};

/** A request that can be written and whose answer can be read. Paths are whole, from the root. */
export interface Operation<Result> {
  readonly code: number;
  /** For messages. */
  readonly path: string | undefined;
  readonly write: (writer: JuteWriter) => void;
  readonly read: (reader: JuteReader) => Result;
}

/** A node to be made. */
export interface NewNode {
  readonly path: string;
  readonly data: Uint8Array;
  readonly mode: NodeMode;
  readonly access: readonly AccessRule[];
}

// path string  data buffer  access vector  flags int -> path string
export function create(node: NewNode): Operation<string> {
  return {
    code: CODE.create,
    path: node.path,
    write: (writer) => writeNewNode(writer, node),
    read: (reader) => reader.string(),
  };
}

// path string  version int -> nothing
export function remove(path: string, version = ANY_VERSION): Operation<void> {
  return {
    code: CODE.delete,
    path,
    write: (writer) => writer.string(path).int(version),
    read: () => undefined,
  };
}

// path string  watch boolean -> stat
export function exists(path: string, isWatched: boolean): Operation<NodeStat> {
  return {
    code: CODE.exists,
    path,
    write: (writer) => writer.string(path).boolean(isWatched),
    read: readStat,
  };
}

// path string  watch boolean -> data buffer  stat
export function getData(path: string, isWatched: boolean): Operation<NodeData> {
  return {
    code: CODE.getData,
    path,
    write: (writer) => writer.string(path).boolean(isWatched),
    read: (reader) => ({ data: reader.buffer(), stat: readStat(reader) }),
  };
}

// path string  data buffer  version int -> stat
export function setData(
  path: string,
  data: Uint8Array,
  version = ANY_VERSION,
): Operation<NodeStat> {
  return {
    code: CODE.setData,
    path,
    write: (writer) => writer.string(path).buffer(data).int(version),
    read: readStat,
  };
}

// path string  watch boolean -> names vector of string
export function getChildren(path: string, isWatched: boolean): Operation<readonly string[]> {
  return {
    code: CODE.getChildren,
    path,
    write: (writer) => writer.string(path).boolean(isWatched),
    read: (reader) => reader.vector(() => reader.string()),
  };
}

// path string -> access vector  stat
export function getAccess(path: string): Operation<readonly AccessRule[]> {
  return {
    code: CODE.getAccess,
    path,
    write: (writer) => writer.string(path),
    read: readAccess,
  };
}

// path string  access vector  version int -> stat
export function setAccess(path: string, access: readonly AccessRule[]): Operation<NodeStat> {
  return {
    code: CODE.setAccess,
    path,
    write: (writer) => writeAccess(writer.string(path), access).int(ANY_VERSION),
    read: readStat,
  };
}

// path string -> path string
export function sync(path: string): Operation<void> {
  return {
    code: CODE.sync,
    path,
    write: (writer) => writer.string(path),
    read: () => undefined,
  };
}

// nothing -> nothing
export const closeSession: Operation<void> = {
  code: CODE.closeSession,
  path: undefined,
  write: () => undefined,
  read: () => undefined,
};

/** A change whose paths are whole, with the access list of what it makes. */
export type Part = NodeChange & { readonly access: readonly AccessRule[] };

/*
  (header  change)*  endHeader -> (header  result)*  endHeader
    header     code int  end boolean  error int
    change     as the body of the request of that code; check is path string  version int
    result     as the body of its answer, nothing for delete and check;
               where code is -1, error int instead, for every part when one has failed
    endHeader  -1  true  -1
*/
export function multi(parts: readonly Part[]): Operation<readonly string[]> {
  return {
    code: CODE.multi,
    path: undefined,
    write: (writer) => {
      for (const part of parts) {
        writer.int(codeOf(part)).boolean(false).int(NO_CODE);
        writePart(writer, part);
      }
      writer.int(NO_CODE).boolean(true).int(NO_CODE);
    },
    read: (reader) => {
      const made: string[] = [];
      for (let index = 0; ; index += 1) {
        const code = reader.int();
        const isEnd = reader.boolean();
        reader.int();
        if (isEnd) return made;
        readPart(reader, code, { part: partAt(parts, index), made });
      }
    },
  };
}

function partAt(parts: readonly Part[], index: number): Part {
  const part = parts[index];
  if (part === undefined) throw malformed(`more than ${parts.length} results of a multi`);
  return part;
}

function codeOf(part: Part): number {
  return part.kind === 'set' ? CODE.setData : CODE[part.kind];
}

function writePart(writer: JuteWriter, part: Part): void {
  switch (part.kind) {
    case 'create':
      writeNewNode(writer, { mode: 'persistent', ...part });
      return;
    case 'set':
      setData(part.path, part.data, part.version).write(writer);
      return;
    case 'delete':
    case 'check':
      remove(part.path, part.version).write(writer);
  }
}

function readPart(
  reader: JuteReader,
  code: number,
  { part, made }: { readonly part: Part; readonly made: string[] },
): void {
  if (code === NO_CODE) {
    const error = reader.int();
    if (error !== 0 && error !== PART_NOT_TRIED) throw errorOfAnswer(error, part.path);
  } else if (code === CODE.create) {
    made.push(reader.string());
  } else if (code === CODE.setData) {
    readStat(reader);
  }
}

function writeNewNode(writer: JuteWriter, { path, data, mode, access }: NewNode): void {
  writer.string(path).buffer(data);
  writeAccess(writer, access).int(MODE_FLAGS[mode]);
}

// access => vector of (permissions int  scheme string  identity string)
function writeAccess(writer: JuteWriter, access: readonly AccessRule[]): JuteWriter {
  return writer.vector(access, ({ permissions, scheme, identity }) =>
    writer.int(permissions).string(scheme).string(identity),
  );
}

function readAccess(reader: JuteReader): readonly AccessRule[] {
  return reader.vector(() => ({
    permissions: reader.int(),
    scheme: reader.string(),
    identity: reader.string(),
  }));
}

/*
  stat => createdZxid long  modifiedZxid long  created long  modified long
          version int  childrenVersion int  accessVersion int
          ephemeralOwner long  dataBytes int  childrenCount int  childrenZxid long
*/
function readStat(reader: JuteReader): NodeStat {
  return {
    createdZxid: reader.long(),
    modifiedZxid: reader.long(),
    createdAtMs: wholeNumber(reader.long(), 'ctime'),
    modifiedAtMs: wholeNumber(reader.long(), 'mtime'),
    version: reader.int(),
    childrenVersion: reader.int(),
    accessVersion: reader.int(),
    ephemeralOwner: reader.long(),
    dataBytes: reader.int(),
    childrenCount: reader.int(),
    childrenZxid: reader.long(),
  };
}
