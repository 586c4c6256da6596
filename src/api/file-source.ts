import { resolve } from 'node:path';
import { userError } from '../base/errors.ts';
import { randomHex } from '../base/random.ts';
import { BYTES_PER_MB } from '../base/units.ts';
import { FileClaims } from './file-claims.ts';
import { FilePart } from './file-part.ts';
import type { FilePosition } from './file-position.ts';
import { FilePositions } from './file-positions.ts';
import { FileShare } from './file-share.ts';
import { type LineEncoding, LineSource, type LineValues } from './line-source.ts';
import { ReplayableSpout, type ReplayOptions } from './replayable-spout.ts';
import { type SourceFiles, systemSourceFiles } from './source-files.ts';
import type { FieldDeclaration, TypedFields, ValuesOf } from './streams.ts';
import type { TopologyContext } from './topology-context.ts';

/** The paths of a file source; relative ones are below `context.workingDirectory`. */
export type SourcePaths = string | readonly string[];

export interface FileSourceOptions extends ReplayOptions {
  /** How bytes become text: `utf8` unless given. */
  readonly encoding?: LineEncoding;
  /**
   * What becomes of a line that is not UTF-8: a dead letter with its bytes, the default, or text
   * with a replacement character for each bad sequence.
   */
  readonly badUtf8?: 'dead-letter' | 'replace';
  /**
   * True: the files grow, and the source has no end. A last line counts when its end has been
   * written. A file may come later. One that becomes shorter is read from its start.
   */
  readonly follow?: boolean;
  /** With `follow`, how long to wait when there is nothing new: 100 ms unless given. */
  readonly pollMs?: number;
  /** A longer line becomes a dead letter with its beginning: 1 MiB unless given. */
  readonly lineBytesMax?: number;
  /**
   * Where the committed positions are kept, a small file for each file that is read and for each
   * task: the folder `positions` below `context.workingDirectory` unless given, which survives
   * restarts, but belongs to one container. One that is given must be reached by all tasks: then a
   * file that an update gives to another task goes on there where it was left. The folder is made.
   */
  readonly positions?: string;
  /** The disk; for tests that bring another one. */
  readonly files?: SourceFiles;
}

/** What is read of each line, where that is not the line itself. */
export interface ParsedLines<Fields extends FieldDeclaration> {
  /** The fields of the tuples, as in a declaration of streams. */
  readonly fields: Fields;
  /**
   * The values of a line, as an object or in the declared order; undefined passes over the line.
   * What it throws makes the line a dead letter, and the next one is unharmed.
   */
  parse(
    line: string,
    position: FilePosition,
  ): ValuesOf<{ readonly default: Fields }, 'default'> | undefined;
}

/** A spout with one field, `line`. */
export type LineSpout = ReplayableSpout<{
  readonly default: TypedFields<readonly ['line'], { line: string }>;
}>;

const LINE_FIELD = ['line'] as const;
const POLL_MS = 100;
const LINE_BYTES_MAX = BYTES_PER_MB;
const NONCE_BYTES = 8;

/**
 * A factory of spouts that read lines of text files, none of which is lost with
 * `topology.reliability.mode` at `ATLEAST_ONCE`: a line that fails is read again, and a spout that
 * is started anew goes on behind the lines that were committed; see {@link ReplayableSpout}.
 *
 * Several tasks share the files: file `i` is read by the task with index `i` modulo the
 * parallelism. When an update changes that, a task gives a file up as soon as what it has read of
 * it is committed, and then the other one begins; where several tasks share the folder of positions
 * the input of all ends together, when all files have been processed. The files of a task are read
 * one after the other, or in turns where they are followed. Lines end with `\n` or `\r\n`, of which
 * the last one needs none; a byte order mark is left out. The files must not change but by growing.
 *
 * @example
 * ```ts
 * const lines = builder.setSpout('lines', fileSource('/data/words.txt')); // { line: string }
 * const orders = builder.setSpout('orders', fileSource(['/data/a.jsonl', '/data/b.jsonl'], {
 *   fields: fields<{ id: number }>()('id'),
 *   parse: (line) => JSON.parse(line), // A line that is no JSON becomes a dead letter.
 * }), { parallelism: 2 });
 * ```
 */
export function fileSource<const Fields extends FieldDeclaration>(
  paths: SourcePaths,
  options: FileSourceOptions & ParsedLines<Fields>,
): () => ReplayableSpout<{ readonly default: Fields }>;
/** The same with lines as they are. */
export function fileSource(paths: SourcePaths, options?: FileSourceOptions): () => LineSpout;
export function fileSource(
  paths: SourcePaths,
  options: FileSourceOptions & Partial<AnyParsedLines> = {},
): () => never {
  const { fields = LINE_FIELD, parse } = options;
  if (fields !== LINE_FIELD && parse === undefined) {
    throw userError('INVALID_ARGUMENT', 'fileSource with fields needs parse, too');
  }
  const Base = ReplayableSpout.of({ default: fields }, options);
  class FileSpout extends Base {
    override source(context: TopologyContext): LineSource {
      return newSource(context, paths, options, (error) => this.reportError(error));
    }
  }
  return (() => new FileSpout()) as () => never;
}

interface AnyParsedLines {
  readonly fields: FieldDeclaration;
  parse(line: string, position: FilePosition): unknown;
}

function newSource(
  context: TopologyContext,
  paths: SourcePaths,
  options: FileSourceOptions & Partial<AnyParsedLines>,
  reportError: (error: unknown) => void,
): LineSource {
  const { workingDirectory, componentName, clock, log } = context;
  const { files = systemSourceFiles, parse = (line: string) => [line] } = options;
  const given = typeof paths === 'string' ? [paths] : paths;
  const all = [...new Set(given.map((path) => resolve(workingDirectory, path)))];
  const folder = resolve(workingDirectory, options.positions ?? 'positions');
  const positions = new FilePositions(files, folder, componentName);
  const onWarning = (text: string): void => log.warn(text);
  const part = new FilePart(context, all, options.positions !== undefined);
  const share = new FileShare({
    all,
    assignment: () => part.assignment(),
    claims: new FileClaims({
      files,
      folder,
      component: componentName,
      task: context.taskId,
      topologyId: context.topologyId,
      nonce: randomHex(context.random, NONCE_BYTES),
      tasks: () => part.tasks(),
      onWarning,
    }),
    positions,
    topologyId: context.topologyId,
    clock,
    random: context.random,
    onWarning,
    onLeft: (file) => {
      const problem = part.problemOfLeaving(file);
      if (problem !== undefined) reportError(userError('COMPONENT_FAILED', problem));
    },
  });
  return new LineSource({
    share,
    all,
    files,
    positions,
    // The emitter sees to it that they are the values of the stream.
    parse: (line, position) => parse(line, position) as LineValues | undefined,
    encoding: options.encoding ?? 'utf8',
    badUtf8: options.badUtf8 ?? 'dead-letter',
    follow: options.follow ?? false,
    pollMs: options.pollMs ?? POLL_MS,
    lineBytesMax: options.lineBytesMax ?? LINE_BYTES_MAX,
    now: () => clock.now(),
    onWarning,
  });
}
