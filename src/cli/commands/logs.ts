import type { LogLevel } from '../../base/log-file.ts';
import { didYouMean } from '../../model/nearest.ts';
import { quotable } from '../../model/quotable.ts';
import { AdvisedError } from '../advised-error.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { findTopology, type FoundTopology, type TopologyArguments } from '../find-topology.ts';
import { AllLogs } from '../logs/all-logs.ts';
import { followLooks } from '../logs/follow-looks.ts';
import type { LogFile } from '../logs/log-files.ts';
import { isFileWanted, isWanted, type LogFilter } from '../logs/log-filter.ts';
import { componentOf, humanLine, jsonLine, type LogLine, processNameOf } from '../logs/log-line.ts';
import { LogReader, type LookOptions } from '../logs/log-reader.ts';
import { type Moment, wallMsOf } from '../logs/moment.ts';
import { TextBatch } from '../logs/text-batch.ts';

export interface LogsArguments extends TopologyArguments {
  readonly follow: boolean;
  readonly components: readonly string[];
  readonly containers: readonly number[];
  readonly processes: readonly string[];
  readonly level?: LogLevel | undefined;
  readonly text?: RegExp | undefined;
  readonly since?: Moment | undefined;
  readonly until?: Moment | undefined;
  /** The last lines to begin with; all of them unless given. */
  readonly tail?: number | undefined;
}

/**
 * Prints the log lines of a topology's containers, wherever they are, in the order of time; with
 * `follow` also those that come, until the topology is gone. With --json it prints one value for
 * each line.
 */
export async function logs(given: LogsArguments, context: CommandContext): Promise<CommandResult> {
  const { output, interruption } = context;
  await using found = await findTopology(given, context);
  const { name } = found.status.record;
  const session = new LogSession(given, found, context);
  await using _ = session;
  await session.check();
  if (given.follow) {
    await session.print('tail', false);
    await followLooks(session.all, found, context, {
      untilMs: session.filter.untilMs,
      look: () => session.print('look', false),
    });
    await session.print('look', true);
    if (!output.isJson && !interruption.aborted && found.status.record.hasNodes) {
      output.warn(`${name} is gone`);
    }
  } else await session.print('tail', true);
  session.tellGone();
  return { text: '', json: undefined };
}

/** From the moment that a line tells until it is in its file: its process may have to wait. */
const WRITING_MS = 100;

/** One command's reading. */
class LogSession implements AsyncDisposable {
  readonly all: AllLogs;
  readonly filter: LogFilter;
  readonly #given: LogsArguments;
  readonly #found: FoundTopology;
  readonly #context: CommandContext;
  readonly #reader = new LogReader();

  constructor(given: LogsArguments, found: FoundTopology, context: CommandContext) {
    const { clock, output } = context;
    const { since, until, processes, ...filters } = given;
    const nowMs = clock.wallNow();
    this.#given = given;
    this.#found = found;
    this.#context = context;
    this.filter = {
      ...filters,
      processes: processes.map(processNameOf),
      sinceMs: since && wallMsOf(since, nowMs),
      untilMs: until && wallMsOf(until, nowMs),
    };
    this.all = new AllLogs(found, {
      clock,
      holdsFiles: given.follow,
      containers: given.containers,
      onSilent: ({ container, host }, reason) =>
        output.warn(`warning: the logs of container ${container} on ${host}: ${reason}`),
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.all[Symbol.asyncDispose]();
  }

  /** @throws EngineError for a component or a process that is not there, or when nothing is. */
  async check(): Promise<void> {
    const { components, processes, follow } = this.#given;
    const { record } = this.#found.status;
    const files = await this.all.list();
    if (!follow && this.all.isEmpty) throw this.#noLogs();
    const logged = new Set(files.map(({ process }) => processNameOf(process)));
    const known: readonly string[] =
      record.topology?.components.map((component) => component.name) ??
      [...logged].flatMap((process) => componentOf(process) ?? []);
    this.#refuseUnknown('component', components, new Set(known));
    // More of them may come while a topology is followed.
    if (!follow) this.#refuseUnknown('process', processes.map(processNameOf), logged);
  }

  /** Everything that is wanted of what was written since the last time. */
  async print(how: 'tail' | 'look', isFinal: boolean): Promise<void> {
    const { clock, output, interruption } = this.#context;
    const batch = new TextBatch(output);
    const nowMs = clock.wallNow() - (isFinal ? 0 : WRITING_MS);
    const files = (await this.all.list()).filter((file) => isFileWanted(file, this.filter));
    for await (const line of this.#lines(files, how, { isFinal, nowMs })) {
      if (interruption.aborted) break;
      if (!isWanted(line, this.filter)) continue;
      batch.add(output.isJson ? jsonLine(line) : humanLine(line, output));
    }
    batch.flush();
  }

  /** What was rotated away before it was read. */
  tellGone(): void {
    for (const key of this.#reader.gone) {
      const text = `lines of ${key} were rotated away before they could be read`;
      this.#context.output.warn(`warning: ${text}`);
    }
  }

  #lines(
    files: readonly LogFile[],
    how: 'tail' | 'look',
    options: LookOptions,
  ): AsyncGenerator<LogLine, void> {
    const { tail: count } = this.#given;
    if (how === 'look' || count === undefined) return this.#reader.look(files, options);
    const { sinceMs } = this.filter;
    const wanted = (line: LogLine): boolean => isWanted(line, this.filter);
    return this.#reader.tail(files, { ...options, count, sinceMs, isWanted: wanted });
  }

  #refuseUnknown(
    what: 'component' | 'process',
    asked: readonly string[],
    known: ReadonlySet<string>,
  ): void {
    const unknown = asked.find((each) => !known.has(each));
    if (unknown === undefined || known.size === 0) return;
    const { name } = this.#found.status.record;
    const hint = didYouMean(unknown, known);
    const where = what === 'component' ? `${name} has no` : `there are no logs of a`;
    throw new AdvisedError('INVALID_ARGUMENT', `${where} ${what} '${quotable(unknown)}'${hint}`, {
      domain: 'user',
      next: `it has ${[...known].toSorted().join(', ')}`,
    });
  }

  #noLogs(): AdvisedError {
    const { containers } = this.#given;
    const where = containers.length === 0 ? '' : ` of container ${containers.join(', ')}`;
    const { name } = this.#found.status.record;
    return new AdvisedError('FILE_FAILED', `there are no logs${where} of ${name}`, {
      domain: 'environment',
      next: `'heron status' shows its containers`,
    });
  }
}
