import { isIP } from 'node:net';
import type * as Tls from 'node:tls';
import { environmentError, messageOf } from '../base/errors.ts';
import type { Dialer } from './network.ts';
import { abortedError, SOCKET_OPTIONS, SocketStream, untilConnected } from './socket-stream.ts';

/** All in PEM form. */
export interface TlsOptions {
  /** Who must have signed the server's certificate; absent: the authorities that Node knows. */
  readonly authority?: string;
  /** Shown to servers that ask who we are, with its key. */
  readonly certificate?: string;
  readonly key?: string;
  /** The name that the server's certificate must be for; absent: the host that is dialled. */
  readonly serverName?: string;
}

/** Loaded with the first use: it is large, and most processes never need it. */
const tls = (): typeof Tls => process.getBuiltinModule('node:tls');

/**
 * Encrypted connections, and only with servers that prove their name.
 *
 * @throws EngineError INVALID_CONFIG when a certificate or the key cannot be used.
 */
export function createTlsDialer(options: TlsOptions): Dialer {
  const secureContext = secureContextOf(options);
  return {
    async connect(address, signal) {
      if (signal?.aborted) throw abortedError(address);
      const { host, port } = address;
      const name = options.serverName ?? host;
      const socket = tls().connect({
        host,
        port,
        ...SOCKET_OPTIONS,
        secureContext,
        servername: isIP(name) === 0 ? name : '', // The protocol cannot ask for an address.
        checkServerIdentity: (_, certificate) => tls().checkServerIdentity(name, certificate),
      });
      socket.pause(); // Until somebody listens (`start`).
      await untilConnected(socket, { address, event: 'secureConnect', signal });
      return new SocketStream(socket);
    },
  };
}

function secureContextOf({ authority, certificate, key }: TlsOptions): Tls.SecureContext {
  try {
    if (authority !== undefined) checkCertificate(authority);
    return tls().createSecureContext({ ca: authority, cert: certificate, key });
  } catch (cause) {
    const message = `the certificates for TLS cannot be used: ${messageOf(cause)}`;
    throw environmentError('INVALID_CONFIG', message, { cause });
  }
}

/** Left to itself, Node takes any text for an authority, and then trusts nobody. */
function checkCertificate(pem: string): void {
  const { X509Certificate } = process.getBuiltinModule('node:crypto');
  void new X509Certificate(pem).subject;
}
