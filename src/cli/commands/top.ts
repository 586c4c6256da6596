import type { Timer } from '../../base/clock.ts';
import { EngineError, messageOf } from '../../base/errors.ts';
import { type Cluster, openCluster } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { parsePlace } from '../place.ts';
import { timeText } from '../top/columns.ts';
import { pageJson } from '../top/page-json.ts';
import { type Paint, type Picture, render, renderNote } from '../top/render.ts';
import { Terminal, type TerminalStreams } from '../top/terminal.ts';
import type { TopPage } from '../top/top-model.ts';
import { TopReader } from '../top/top-reader.ts';
import { afterKey, firstView, type Key, type ViewState } from '../top/view-state.ts';
import { parseTopologyName } from '../topology-record.ts';

/*
  `heron top`: on a terminal a picture that is drawn anew at each look, until it is quit; elsewhere,
  or with --json, one look or as many as are asked for, one after the other.
*/

export interface TopArguments {
  readonly place: string;
  /** All of the place unless given. */
  readonly name?: string | undefined;
  readonly intervalMs: number;
  /** How many looks; on a terminal as many as it takes to be quit, else 1. */
  readonly iterations?: number | undefined;
}

/** Of all time at most a quarter is spent with looking, most of it with waiting (TopReader P1). */
const PAUSE_OF_A_LOOK = 3;
/** A picture that moves does not wait for a master that hangs; a single one does, for a while. */
const PATIENCE_LIVE_MS = 500;
const PATIENCE_ONCE_MS = 3_000;

export async function top(given: TopArguments, context: CommandContext): Promise<CommandResult> {
  const { output, terminal } = context;
  const place = parsePlace(given.place);
  const name = given.name === undefined ? undefined : parseTopologyName(given.name);
  await using cluster: Cluster = await openCluster(place.cluster, context);
  const isLive = terminal !== undefined && !output.isJson;
  const patienceMs = isLive ? PATIENCE_LIVE_MS : PATIENCE_ONCE_MS;
  const options = { place, placeText: given.place, cluster, context, patienceMs };
  const reader = new TopReader(options);
  const look = (topology: string | undefined): Promise<TopPage> =>
    topology === undefined ? reader.overview() : reader.topology(parseTopologyName(topology));
  if (isLive) await new LiveTop(given, context, look).run(terminal);
  else await printLooks(given, context, () => look(name));
  return { json: undefined, text: '' };
}

async function printLooks(
  { name, intervalMs, iterations = 1 }: TopArguments,
  { clock, output, interruption }: CommandContext,
  look: () => Promise<TopPage>,
): Promise<void> {
  const view = firstView(name);
  for (let done = 1; done <= iterations && !interruption.aborted; done += 1) {
    const beganMs = clock.now();
    const page = await look();
    if (output.isJson) output.json(pageJson(page));
    else {
      const { lines } = render(page, view, { size: undefined, paint: paintOn(output) });
      output.say(done === 1 ? lines.join('\n') : `\n${lines.join('\n')}`);
    }
    if (done === iterations) return;
    await pause(pauseMs(intervalMs, clock.now() - beganMs));
  }

  async function pause(ms: number): Promise<void> {
    const over = Promise.withResolvers<void>();
    const timer = clock.after(ms, over.resolve);
    interruption.addEventListener('abort', () => over.resolve(), { once: true });
    if (!interruption.aborted) await over.promise;
    timer.cancel();
  }
}

function pauseMs(intervalMs: number, lookMs: number): number {
  return Math.max(intervalMs, PAUSE_OF_A_LOOK * lookMs);
}

/** The screen and what is on it. */
class LiveTop {
  readonly #given: TopArguments;
  readonly #context: CommandContext;
  readonly #look: (topology: string | undefined) => Promise<TopPage>;
  readonly #over = Promise.withResolvers<void>();
  #view: ViewState;
  #page: TopPage | undefined;
  #problem: string | undefined;
  #picture: Picture = { lines: [], shown: { rows: [], height: 0 } };
  #terminal: Terminal | undefined;
  #next: Timer | undefined;
  #isLooking = false;
  #looks = 0;

  constructor(
    given: TopArguments,
    context: CommandContext,
    look: (topology: string | undefined) => Promise<TopPage>,
  ) {
    this.#given = given;
    this.#context = context;
    this.#look = look;
    this.#view = firstView(given.name);
  }

  /** Resolves when it was quit, interrupted, or has looked often enough. */
  async run(streams: TerminalStreams): Promise<void> {
    const { interruption } = this.#context;
    // What is wrong with the place or the name is said on the screen that is there.
    this.#page = await this.#look(this.#view.topology);
    this.#looks = 1;
    const stop = (): void => this.#over.resolve();
    interruption.addEventListener('abort', stop);
    if (interruption.aborted) stop();
    using terminal = new Terminal(streams, {
      onKey: (key) => this.#onKey(key),
      onRedraw: () => this.#draw(),
    });
    this.#terminal = terminal;
    try {
      this.#draw();
      this.#plan(this.#given.intervalMs);
      await this.#over.promise;
    } finally {
      this.#terminal = undefined;
      this.#next?.cancel();
      interruption.removeEventListener('abort', stop);
    }
  }

  #plan(ms: number): void {
    this.#next?.cancel();
    if (this.#looks === this.#given.iterations) this.#over.resolve();
    else this.#next = this.#context.clock.after(ms, () => void this.#lookAgain());
  }

  async #lookAgain(): Promise<void> {
    if (this.#isLooking || this.#terminal === undefined) return;
    const { clock } = this.#context;
    const beganMs = clock.now();
    if (!this.#view.isPaused) {
      this.#isLooking = true;
      await this.#readPage();
      this.#isLooking = false;
      this.#looks += 1;
      this.#draw();
    }
    this.#plan(pauseMs(this.#given.intervalMs, clock.now() - beganMs));
  }

  async #readPage(): Promise<void> {
    const { topology } = this.#view;
    try {
      const page = await this.#look(topology);
      if (topology !== this.#view.topology) return; // Somebody has gone elsewhere meanwhile.
      this.#page = page;
      this.#problem = undefined;
    } catch (error) {
      if (!(error instanceof EngineError)) {
        this.#over.reject(error);
        return;
      }
      const since = this.#page === undefined ? '' : `; as of ${timeText(this.#page.atMs)}`;
      this.#problem = `${messageOf(error)}${since}`;
    }
  }

  #onKey(key: Key): void {
    const before = this.#view.topology;
    this.#view = afterKey(this.#view, key, this.#picture.shown);
    if (this.#view.isOver) this.#over.resolve();
    if (before !== this.#view.topology) {
      this.#page = undefined;
      this.#isLooking = false;
      this.#plan(0);
    }
    this.#draw();
  }

  #draw(): void {
    const terminal = this.#terminal;
    if (terminal === undefined) return;
    const { size } = terminal;
    const paint = paintOn(this.#context.output);
    const options = { size, paint, problem: this.#problem, intervalMs: this.#given.intervalMs };
    this.#picture =
      this.#page === undefined
        ? renderNote(this.#problem ?? 'looking …', this.#view, options)
        : render(this.#page, this.#view, options);
    terminal.draw(this.#picture.lines);
  }
}

const STYLES = {
  plain: undefined,
  good: 'green',
  warn: 'yellow',
  bad: 'red',
  dim: 'dim',
  head: 'bold',
  sorted: ['bold', 'underline'],
  marked: 'inverse',
  title: 'bold',
} as const;

function paintOn(output: CommandContext['output']): Paint {
  return (tone, text) => {
    const style = STYLES[tone];
    if (style === undefined) return text;
    return output.style(typeof style === 'string' ? style : [...style], text);
  };
}
