import { basename, posix } from 'node:path';
import { z } from '@hono/zod-openapi';
import { containerId } from '../../base/ids.ts';
import { INSPECTIONS_FOLDER } from '../../model/inspections-folder.ts';
import { findView, oneTopology } from '../find-view.ts';
import type { ContainerShell } from '../shell/container-shell.ts';
import { shellOfContainer, shellOfProcess } from '../shell/find-shell.ts';
import type { TrackerApp } from '../tracker-app.ts';
import { refusal } from '../tracker-error.ts';
import type { TrackerParts } from '../tracker-parts.ts';

/* What the shells of containers say of processes and files, in Heron's shapes. */

const shellOutput = z.object({ command: z.string(), stdout: z.string(), stderr: z.string() });

/** What one answer holds of a file: a screen of a log viewer many times over. */
const DATA_BYTES_MAX = 1024 * 1024;

const ofProcess = oneTopology.extend({
  instance: z.string().openapi({ description: "an instance's id, or the name of any process" }),
});

const ofFile = oneTopology.extend({
  container: z.coerce.number().int().min(0),
  path: z.string().openapi({ description: "relative to the container's folder" }),
});

const fileData = z.object({ offset: z.number(), length: z.number(), data: z.string().optional() });

const fileStats = z.record(
  z.string(),
  z.object({
    formatted_stat: z.string(),
    is_dir: z.boolean(),
    path: z.string(),
    bytes: z.number().optional(),
    modified_at_ms: z.number().optional(),
  }),
);

export function registerContainers(app: TrackerApp, parts: TrackerParts): void {
  const { snapshots, admit } = parts;
  const add = (
    name: string,
    summary: string,
    ask: (shell: ContainerShell, process: string) => Promise<z.output<typeof shellOutput>>,
    check: (request: Request) => void = () => {},
  ): void =>
    app.get({
      path: `/topologies/${name}`,
      summary,
      tag: 'processes',
      query: ofProcess,
      answer: shellOutput,
      respond: ({ instance, ...wanted }, _signal, request) => {
        check(request);
        const view = findView(snapshots.now(), wanted);
        return ask(shellOfProcess(view, instance, snapshots), instance);
      },
    });
  add('pid', 'The pid of a process.', (shell, process) => shell.pid(process));
  add('jstack', 'Where its main thread is.', (shell, process) => shell.stack(process));
  // It stops the process for seconds and fills a disk, whatever its method says.
  add(
    'jmap',
    'Writes its heap to a file in its container; an action, which has to be allowed.',
    (shell, process) => shell.heap(process),
    admit,
  );
  add('histo', 'Figures of its heap.', (shell, process) => shell.histo(process));
  registerFiles(app, parts);
}

function registerFiles(app: TrackerApp, { snapshots, admit }: TrackerParts): void {
  /** Whoever may not have a heap written down may not read one that somebody else has had. */
  const check = ({ path }: z.output<typeof ofFile>, request: Request): void => {
    const [top] = posix.normalize(path).split('/');
    if (top === INSPECTIONS_FOLDER) admit(request);
  };
  const shellOf = (file: z.output<typeof ofFile>): ContainerShell =>
    shellOfContainer(findView(snapshots.now(), file), containerId(file.container), snapshots);
  app.get({
    path: '/topologies/container/filedata',
    summary: 'A part of a text file.',
    tag: 'files',
    query: ofFile.extend({
      offset: z.coerce.number().int().min(-1).openapi({ description: 'bytes; -1: its end' }),
      length: z.coerce.number().int().min(-1).openapi({ description: 'bytes; -1: the rest' }),
    }),
    answer: fileData,
    respond: ({ offset, length, ...file }, _signal, request) => {
      check(file, request);
      const most = length < 0 ? DATA_BYTES_MAX : Math.min(length, DATA_BYTES_MAX);
      return shellOf(file).fileData(file.path, { offset, length: most });
    },
  });
  app.get({
    path: '/topologies/container/filestats',
    summary: 'What is in a folder.',
    tag: 'files',
    query: ofFile,
    answer: fileStats,
    respond: (file, _signal, request) => {
      check(file, request);
      return shellOf(file).fileStats(file.path);
    },
  });
  app.stream({
    path: '/topologies/container/filedownload',
    summary: 'A file.',
    tag: 'files',
    query: ofFile,
    contentType: 'application/octet-stream',
    respond: async (file, signal, request) => {
      check(file, request);
      const whole = { offset: 0, length: -1 };
      const bytes = await shellOf(file).download(file.path, whole, signal);
      return new Response(bytes, {
        headers: {
          'Content-Type': 'application/octet-stream',
          'Content-Disposition': `attachment; filename="${safeName(file.path)}"`,
        },
      });
    },
  });
}

/** A file's name may hold what would end the header or its quotes. */
function safeName(path: string): string {
  const name = basename(path).replaceAll(/[^\w.-]/g, '_');
  if (name === '' || name === '.') throw refusal(400, 'path: this is no file');
  return name;
}
