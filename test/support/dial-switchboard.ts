/*
  Loaded into every process of a cluster ahead of its own code (`--import`, see switchboard.ts):
  connections that instances and stream managers dial go to the switchboard, which first hears who
  dials whom, and then carries the bytes to the listener that was meant.

    a dial => "<name> <host> <port>\n" and what the process itself says
*/

import { readFileSync } from 'node:fs';
import { Socket, type TcpNetConnectOpts } from 'node:net';

const port = Number(process.env['HERON_TEST_SWITCHBOARD']);
const originalConnect = Reflect.get(Socket.prototype, 'connect') as (
  ...args: readonly unknown[]
) => Socket;

/** `stmgr-1`, `container_1_words_2`; undefined for processes that carry no tuples. */
function ownName(): string | undefined {
  const commandLine = readFileSync('/proc/self/cmdline', 'latin1').replaceAll('\0', ' ');
  return /--(?:instance-)?id=(stmgr-\d+|container_\S+)/.exec(commandLine)?.[1];
}

/** Node hands the options on as the first element of an array. */
function optionsOf(first: unknown): TcpNetConnectOpts | undefined {
  const options: unknown = Array.isArray(first) ? first[0] : first;
  const isTcp = typeof options === 'object' && options !== null && 'port' in options;
  return isTcp ? (options as TcpNetConnectOpts) : undefined;
}

function connectThroughSwitchboard(this: Socket, ...args: readonly unknown[]): Socket {
  const options = optionsOf(args[0]);
  const name = options === undefined ? undefined : ownName();
  if (options === undefined || name === undefined) {
    return Reflect.apply(originalConnect, this, args);
  }
  const preface = `${name} ${options.host ?? '127.0.0.1'} ${options.port}\n`;
  Object.assign(options, { host: '127.0.0.1', port });
  const socket = Reflect.apply(originalConnect, this, args);
  socket.write(preface);
  return socket;
}

if (port > 0) Socket.prototype.connect = connectThroughSwitchboard;
