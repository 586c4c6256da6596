import { environmentError, messageOf, userError } from '../../base/errors.ts';
import type { StateManagerPorts } from '../state-manager-ports.ts';
import type { Dialer } from '../../net/network.ts';
import { DIGEST_VARIABLE, type TlsFiles, type ZooKeeperStateAddress } from '../state-address.ts';
import { CREATOR_ACCESS, type Credential, OPEN_ACCESS } from './node-records.ts';
import { stateFailure } from './state-failure.ts';
import { ZooKeeperClient } from './zookeeper-client.ts';
import type { ZooKeeperSessionOptions } from './zookeeper-session.ts';

export interface ClientSource extends StateManagerPorts {
  readonly address: ZooKeeperStateAddress;
}

export type ClientEvents = Pick<ZooKeeperSessionOptions, 'onConnected' | 'onSuspended' | 'onLost'>;

/**
 * Makes a client for an address, which begins to dial when it is opened.
 *
 * @throws EngineError FILE_FAILED or INVALID_CONFIG when the credentials cannot be read.
 */
export async function openClient(
  options: ClientSource,
  events: ClientEvents,
): Promise<ZooKeeperClient> {
  const { address, clock, random, logger } = options;
  const digest = await readDigest(options);
  const network =
    address.tls === undefined ? options.network : await tlsDialer(address.tls, options);
  return new ZooKeeperClient({
    servers: address.servers,
    ...(address.root !== '' && { chroot: address.root }),
    sessionTimeoutMs: address.sessionTimeoutMs,
    requestTimeoutMs: address.connectionTimeoutMs,
    ...(digest !== undefined && { credentials: [digest] }),
    access: digest === undefined ? OPEN_ACCESS : CREATOR_ACCESS,
    network,
    clock,
    random,
    logger,
    ...events,
  });
}

/** Loaded with the first use; the files are read anew for each session, as certificates expire. */
async function tlsDialer(tls: TlsFiles, { files }: ClientSource): Promise<Dialer> {
  const { createTlsDialer } = await import('../../net/tls-dialer.ts');
  const textOf = async (file: string): Promise<string> => {
    try {
      return Buffer.from(await files.read(file)).toString();
    } catch (cause) {
      const message = `cannot read a file of heron.statemgr.zookeeper.tls: ${messageOf(cause)}`;
      throw environmentError('FILE_FAILED', message, { cause });
    }
  };
  const { caFile, certificateFile, keyFile, serverName } = tls;
  return createTlsDialer({
    ...(caFile !== undefined && { authority: await textOf(caFile) }),
    ...(certificateFile !== undefined && { certificate: await textOf(certificateFile) }),
    ...(keyFile !== undefined && { key: await textOf(keyFile) }),
    ...(serverName !== undefined && { serverName }),
  });
}

/** Opens a session and ends it again; the time that the servers granted it, in milliseconds. */
export async function sessionGrantedBy(options: ClientSource): Promise<number> {
  const client = await openClient(options, {});
  try {
    client.open();
    await client.exists('/');
    return client.sessionTimeoutMs;
  } catch (error) {
    throw stateFailure(error, { doing: 'read', path: '/', address: options.address });
  } finally {
    await client.close();
  }
}

async function readDigest({
  address: { digestFile },
  files,
  variables,
}: ClientSource): Promise<Credential | undefined> {
  if (digestFile === undefined) {
    const secret = variables[DIGEST_VARIABLE] ?? '';
    return secret === '' ? undefined : digestOf(secret, DIGEST_VARIABLE);
  }
  try {
    return digestOf(Buffer.from(await files.read(digestFile)).toString(), digestFile);
  } catch (cause) {
    const message = `cannot read the credentials of the state store: ${messageOf(cause)}`;
    throw environmentError('FILE_FAILED', message, { cause });
  }
}

/** The text itself must not appear in any message. */
function digestOf(text: string, origin: string): Credential {
  const secret = text.trim();
  if (!/^[^:\s]+:\S+$/.test(secret)) {
    throw userError('INVALID_CONFIG', `${origin}: 'user:password' is expected, on one line`);
  }
  return { scheme: 'digest', secret: Buffer.from(secret) };
}
