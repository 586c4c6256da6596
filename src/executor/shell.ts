import type { HttpHandler, HttpServer } from '../net/http-rules.ts';
import type { ShellOptions } from './shell/shell-options.ts';

/*
  The shell of a container: an HTTP port of its executor that shows the container's files and its
  processes, with the paths and answers of Heron's shell (heron-shell), there a process of its own.
  {process} is a name of the container's report, the executor's own, or a pid.

    GET  /health                             `ok`; all others demand the topology's token
    GET  /pid/{process}                      {command, stdout, stderr}, as the next four
    GET  /stack/{process}, /jstack/{process} the stack of its main thread
    GET  /jmap/{process}, /histo/{process}   a heap snapshot as a file; figures of its heap
    GET  /filedata/{path}?offset&length      {offset, length, data}: a part of a text file
    GET  /filestats/{path}                   what is in a folder
    GET  /download/{path}?offset&length      a file's bytes
    POST /profile/{process}?seconds          {file, bytes}: a CPU profile
    POST /heap/{process}                     {file, bytes}: a heap snapshot
    POST /sample/{instance}?stream&count&seconds   {tuples, fields}: what it emits next

  Ours departs from Heron's: /filedata does not escape its text for HTML, there are no HTML pages,
  nothing is killed, and what may hold secrets is not served
  (shell/container-files.ts). Errors are a status and one sentence.

  E1. It costs a listening port until somebody asks; the code is loaded then.
  E2. The container runs without it when the port cannot be opened.
*/

/** Requests have no bodies. */
const BODY_BYTES_MAX = 1_024;

/** @throws EngineError CONNECTION_LOST when the port cannot be opened */
export function openShell(options: ShellOptions): Promise<HttpServer> {
  const { listenHttp, host, logger } = options;
  let handler: Promise<HttpHandler> | undefined;
  return listenHttp({
    host,
    port: 0,
    bodyBytesMax: BODY_BYTES_MAX,
    logger,
    handle: async (request) => {
      handler ??= loadHandler(options);
      return await (await handler)(request);
    },
  });
}

async function loadHandler(options: ShellOptions): Promise<HttpHandler> {
  const { shellHandler } = await import('./shell/shell-handler.ts');
  return shellHandler(options);
}
