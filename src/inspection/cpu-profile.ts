import { renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import type { InspectionFile } from './requests.ts';
import { SourcePlaces } from './source-places.ts';
import type { ThreadSession } from './thread-session.ts';

/** V8's own default: a sample each millisecond, which costs the thread a few per cent. */
const SAMPLE_US = 1_000;
/** The profile of a long run is put together in the thread that was looked at. */
const RESULT_MS_MAX = 30_000;

export interface ProfileWish {
  readonly seconds: number;
  /** Absolute; appears whole. */
  readonly file: string;
}

/** Of what V8 gives: those parts that are read here. The rest passes through. */
interface Profile {
  readonly nodes: readonly ProfileNode[];
}

interface ProfileNode {
  readonly callFrame: CallFrame;
  readonly positionTicks?: unknown;
}

/** The inspector counts from 0; -1 is unknown. */
interface CallFrame {
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/**
 * Looks where a thread spends its time, and writes a `.cpuprofile` file as Chrome and others read
 * it. Functions of bundles are shown where their author wrote them.
 */
export async function profileThread(
  session: ThreadSession,
  { seconds, file }: ProfileWish,
  clock: Clock,
): Promise<InspectionFile> {
  await session.ask('Profiler.enable');
  await session.ask('Profiler.setSamplingInterval', { interval: SAMPLE_US });
  // Code that was optimised before does not tell the functions that were inlined into it, often the
  // busiest ones. This throws it away; what replaces it within milliseconds tells them.
  await session.ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.ask('Profiler.stopPreciseCoverage');
  await session.ask('Profiler.start');
  await new Promise<void>((resolve) => {
    clock.after(seconds * 1_000, resolve);
  });
  const { profile } = await session.ask('Profiler.stop', undefined, RESULT_MS_MAX);
  const bytes = Buffer.from(JSON.stringify(atItsSources(profile as Profile)));
  const part = `${file}.part`;
  try {
    writeFileSync(part, bytes, { mode: 0o600 });
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
  return { bytes: bytes.length };
}

function atItsSources(profile: Profile): Profile {
  const places = new SourcePlaces();
  return { ...profile, nodes: profile.nodes.map((node) => nodeAtItsSource(node, places)) };
}

function nodeAtItsSource(node: ProfileNode, places: SourcePlaces): ProfileNode {
  const { url, lineNumber, columnNumber } = node.callFrame;
  if (lineNumber < 0) return node;
  const here = { url, line: lineNumber + 1, column: columnNumber + 1 };
  const origin = places.find(here);
  if (origin === here) return node;
  const callFrame = {
    ...node.callFrame,
    url: origin.url,
    lineNumber: origin.line - 1,
    columnNumber: origin.column - 1,
  };
  // Ticks by line are those of the bundle: without them, a viewer shows the function as a whole.
  return { ...node, callFrame, positionTicks: [] };
}
