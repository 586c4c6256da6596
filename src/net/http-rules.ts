import type { Readable } from 'node:stream';
import type { Logger } from '../base/logger.ts';

/* HTTP as the engine's handlers see it: requests, answers, and who may ask. */

export interface HttpRequest {
  readonly method: string;
  /** Decoded, without the query: `/activate`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

export interface HttpAnswer {
  readonly status: number;
  /** For the status line; printable ASCII. */
  readonly reason?: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** What follows the body, as it comes, when it is too large to be held. */
  readonly stream?: HttpStream;
}

export interface HttpStream {
  /** How many there will be; with fewer of them the connection is ended. */
  readonly bytes: number;
  /** Read to its end, or destroyed. */
  readonly content: Readable;
}

export type HttpHandler = (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;

/** An answer whose status line says the same as its body, as Heron's clients expect of errors. */
export function textAnswer(status: number, text: string): HttpAnswer {
  return { status, reason: text, contentType: 'text/plain', body: text };
}

export interface HttpServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly bodyBytesMax: number;
  readonly handle: HttpHandler;
  readonly logger: Logger;
}

export interface HttpServer {
  readonly port: number;
  /** Ends all connections. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts a server.
 *
 * @throws EngineError PORT_IN_USE when the port is taken.
 */
export type ListenHttp = (options: HttpServerOptions) => Promise<HttpServer>;

/** Why a request is refused whatever it asks for (W2), or undefined. */
export function refusalOf(headers: HttpRequest['headers'], ownHost: string): string | undefined {
  const site = headers['sec-fetch-site'];
  const isFromElsewhere = site !== undefined && site !== 'none' && site !== 'same-origin';
  if (headers['origin'] !== undefined || isFromElsewhere) return 'Cross-site requests are refused';
  const name = hostNameOf(headers['host']);
  const isOurs =
    name !== undefined && (isIpLiteral(name) || name === 'localhost' || name === ownHost);
  return isOurs ? undefined : 'The Host header names another host';
}

/** `[::1]:80` → `[::1]`, `localhost:80` → `localhost`. */
function hostNameOf(host: string | readonly string[] | undefined): string | undefined {
  if (typeof host !== 'string') return undefined;
  return /^(\[[^\]]+\]|[^:[\]]+)(?::\d+)?$/.exec(host)?.[1];
}

/** No domain name looks like this, so nobody can point one of his at us. */
function isIpLiteral(name: string): boolean {
  return name.startsWith('[') || /^[\d.]+$/.test(name);
}
