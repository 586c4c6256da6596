import { isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { messageOf, userError } from '../base/errors.ts';
import { type Address, addressText } from '../net/network.ts';

/*
  Where a state tree is, as settings, command lines and launch records write it:

    file:///home/me/.herondata/repository/state/local
    zookeeper://zk1:2181,zk2:2181/heron?session.timeout.ms=10000

  A1. An address holds no secret: it stands on command lines, where every user of the machine reads
      it. Credentials are in a file that the address names, or in an environment variable.
  A2. `stateUrl` of what `parseStateAddress` gave is the same address again; what equals its default
      is left out.
*/

export type StateAddress = FileStateAddress | ZooKeeperStateAddress;

export interface FileStateAddress {
  readonly kind: 'file';
  /** An absolute path. */
  readonly folder: string;
}

export interface ZooKeeperStateAddress {
  readonly kind: 'zookeeper';
  /** At least one; their order means nothing. */
  readonly servers: readonly Address[];
  /** The node that holds the state tree, `/heron`; empty for the root of all. */
  readonly root: string;
  /** How long the servers remember this process while they do not hear of it. */
  readonly sessionTimeoutMs: number;
  /** How long a call waits for a server before it fails with STATE_UNAVAILABLE. */
  readonly connectionTimeoutMs: number;
  /** Holds `user:password`; new nodes are then for that user alone. */
  readonly digestFile?: string;
  /** Undefined: connections are not encrypted. */
  readonly tls?: TlsFiles;
}

/** Paths of PEM files. */
export interface TlsFiles {
  /** Who vouches for the servers; the platform's own list unless given. */
  readonly caFile?: string;
  /** What this client shows of itself; both or neither. */
  readonly certificateFile?: string;
  readonly keyFile?: string;
  /** The name in the servers' certificates, where it is not their host's. */
  readonly serverName?: string;
}

/**
 * The environment variable with `user:password`, where an address names no file. It reaches the
 * engine's processes; user code does not get it.
 */
export const DIGEST_VARIABLE = 'HERON_STATE_DIGEST';

export const ZOOKEEPER_PORT = 2181;
/** Heron's own. */
export const SESSION_TIMEOUT_MS = 30_000;
/**
 * Heron waits as long as for a session. A person who calls a command, and a process that tries
 * again by itself anyway, are better served by hearing of it sooner.
 */
export const CONNECTION_TIMEOUT_MS = 10_000;

/** What may follow the `?`; settings have the same names behind `heron.statemgr.zookeeper.`. */
export const ZOOKEEPER_OPTIONS = [
  'session.timeout.ms',
  'connection.timeout.ms',
  'digest.file',
  'tls',
  'tls.ca.file',
  'tls.certificate.file',
  'tls.key.file',
  'tls.server.name',
] as const;

export type ZooKeeperOption = (typeof ZOOKEEPER_OPTIONS)[number];
export type ZooKeeperOptions = ReadonlyMap<ZooKeeperOption, string>;

const FORM = 'it is written file:///folder or zookeeper://host:2181,host:2181/root';
const ZOOKEEPER_URL = /^zookeeper:\/\/([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/;
const SERVER = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]+))(?::(\d{1,5}))?$/;
const SEGMENT = /^[A-Za-z0-9_.@+-]{1,200}$/;
/** `//name:secret@host`: what stands there must not come back in a message. */
const USER = /\/\/[^/?#]*@/;
const WHOLE_NUMBER = /^\d{1,9}$/;

/**
 * @param defaults options of a ZooKeeper address that does not have them itself.
 * @throws EngineError INVALID_ARGUMENT, with what is wrong and how an address is written.
 */
export function parseStateAddress(text: string, defaults?: ZooKeeperOptions): StateAddress {
  if (text.startsWith('file:')) return fileAddress(text);
  const [, hosts, root = '', query = ''] = ZOOKEEPER_URL.exec(text) ?? [];
  if (USER.test(text)) throw wrong(text, 'it must not name a user; give a digest file instead');
  if (hosts === undefined) throw wrong(text, FORM);
  const options = new Map([...(defaults ?? []), ...optionsOf(text, query)]);
  return zooKeeperAddress({ text, hosts, root, options });
}

/** The address as text, which `parseStateAddress` reads. */
export function stateUrl(address: StateAddress): string {
  if (address.kind === 'file') return pathToFileURL(address.folder).href;
  const query = new URLSearchParams([...writtenOptions(address)]).toString();
  return `${shortUrl(address)}${query === '' ? '' : `?${query}`}`;
}

/** The address as messages show it, without options. */
export function stateAddressText(address: StateAddress): string {
  return address.kind === 'file' ? address.folder : shortUrl(address);
}

function shortUrl({ servers, root }: ZooKeeperStateAddress): string {
  return `zookeeper://${servers.map(addressText).join(',')}${root}`;
}

function fileAddress(text: string): FileStateAddress {
  let folder: string;
  try {
    folder = fileURLToPath(text);
  } catch (error) {
    throw wrong(text, `${messageOf(error)}; ${FORM}`);
  }
  // `file:folder` would be one at the root of the disk.
  const isWritten = text.startsWith('file:///') || text.startsWith('file://localhost/');
  if (!isWritten || !isAbsolute(folder)) throw wrong(text, FORM);
  return { kind: 'file', folder };
}

function optionsOf(text: string, query: string): ZooKeeperOptions {
  const options = new Map<ZooKeeperOption, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const option = ZOOKEEPER_OPTIONS.find((known) => known === name);
    if (option === undefined) {
      const known = ZOOKEEPER_OPTIONS.join(', ');
      throw wrong(text, `there is no option '${name}'; there are ${known}`);
    }
    options.set(option, value);
  }
  return options;
}

interface WrittenAddress {
  /** For messages. */
  readonly text: string;
  readonly hosts: string;
  readonly root: string;
  readonly options: ZooKeeperOptions;
}

/** Also for a connection string of Heron: `host:2181,host:2181` with a root of its own. */
export function zooKeeperAddress(written: WrittenAddress): ZooKeeperStateAddress {
  const { text, options } = written;
  const certificateFile = fileOption(text, options, 'tls.certificate.file');
  const keyFile = fileOption(text, options, 'tls.key.file');
  if ((certificateFile === undefined) !== (keyFile === undefined)) {
    throw wrong(text, 'tls.certificate.file and tls.key.file need each other');
  }
  const caFile = fileOption(text, options, 'tls.ca.file');
  const serverName = options.get('tls.server.name');
  const digestFile = fileOption(text, options, 'digest.file');
  const tls: TlsFiles = {
    ...(caFile !== undefined && { caFile }),
    ...(certificateFile !== undefined && { certificateFile }),
    ...(keyFile !== undefined && { keyFile }),
    ...(serverName !== undefined && { serverName }),
  };
  const hasTls = tlsOption(text, options, Object.keys(tls).length > 0);
  return {
    kind: 'zookeeper',
    servers: serversOf(text, written.hosts),
    root: rootOf(text, written.root),
    sessionTimeoutMs: millisecondsOf(text, options, 'session.timeout.ms', SESSION_TIMEOUT_MS),
    connectionTimeoutMs: millisecondsOf(
      text,
      options,
      'connection.timeout.ms',
      CONNECTION_TIMEOUT_MS,
    ),
    ...(digestFile !== undefined && { digestFile }),
    ...(hasTls && { tls }),
  };
}

function serversOf(text: string, hosts: string): readonly Address[] {
  return hosts.split(',').map((server) => {
    const [, bracketed, plain, portText] = SERVER.exec(server.trim()) ?? [];
    const host = bracketed ?? plain;
    const port = portText === undefined ? ZOOKEEPER_PORT : Number(portText);
    if (host === undefined || port === 0 || port > 65_535) {
      throw wrong(text, `'${server}' is no host with a port; ${FORM}`);
    }
    return { host, port };
  });
}

function rootOf(text: string, root: string): string {
  const trimmed = root.replace(/\/+$/, '');
  if (trimmed === '') return '';
  const [, ...segments] = trimmed.split('/');
  const isPath = segments.every(
    (segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..',
  );
  if (!trimmed.startsWith('/') || !isPath) {
    throw wrong(text, `'${root}' is no path of a ZooKeeper node`);
  }
  if (segments[0] === 'zookeeper') throw wrong(text, "'/zookeeper' is kept for the servers");
  return trimmed;
}

/** The files of TLS mean TLS, too. */
function tlsOption(text: string, options: ZooKeeperOptions, hasFiles: boolean): boolean {
  const written = options.get('tls');
  if (written === undefined) return hasFiles;
  if (written !== 'true' && written !== 'false') throw wrong(text, "tls is 'true' or 'false'");
  if (written === 'false' && hasFiles) throw wrong(text, 'tls is false, but it has files');
  return written === 'true';
}

function millisecondsOf(
  text: string,
  options: ZooKeeperOptions,
  option: ZooKeeperOption,
  standard: number,
): number {
  const written = options.get(option);
  if (written === undefined) return standard;
  if (WHOLE_NUMBER.test(written) && Number(written) > 0) return Number(written);
  throw wrong(text, `${option} is a whole number of milliseconds from 1`);
}

/** Absolute: processes run in folders of their own. */
function fileOption(
  text: string,
  options: ZooKeeperOptions,
  option: ZooKeeperOption,
): string | undefined {
  const path = options.get(option);
  if (path === undefined || isAbsolute(path)) return path;
  throw wrong(text, `${option} is the path of a file from the root: /…/file`);
}

function* writtenOptions(address: ZooKeeperStateAddress): Iterable<[ZooKeeperOption, string]> {
  const { sessionTimeoutMs, connectionTimeoutMs, digestFile, tls } = address;
  if (sessionTimeoutMs !== SESSION_TIMEOUT_MS) yield ['session.timeout.ms', `${sessionTimeoutMs}`];
  if (connectionTimeoutMs !== CONNECTION_TIMEOUT_MS) {
    yield ['connection.timeout.ms', `${connectionTimeoutMs}`];
  }
  if (digestFile !== undefined) yield ['digest.file', digestFile];
  if (tls === undefined) return;
  yield ['tls', 'true'];
  if (tls.caFile !== undefined) yield ['tls.ca.file', tls.caFile];
  if (tls.certificateFile !== undefined) yield ['tls.certificate.file', tls.certificateFile];
  if (tls.keyFile !== undefined) yield ['tls.key.file', tls.keyFile];
  if (tls.serverName !== undefined) yield ['tls.server.name', tls.serverName];
}

function wrong(text: string, why: string) {
  const shown = JSON.stringify(text.replace(USER, '//(redacted)@').slice(0, 300));
  return userError('INVALID_ARGUMENT', `${shown} is not the address of a state store: ${why}`);
}
