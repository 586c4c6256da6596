import { z } from '@hono/zod-openapi';
import { DEAD_LETTER_KINDS } from '../../model/dead-letter.ts';
import type { LetterChoice, TopologyAction } from './tracker-actions.ts';

/*
  What the bodies of actions hold. Names are those of Heron's API server, which takes forms; JSON
  with the same names is taken as well. A form has texts only, and one value may stand for a list.
*/

const TIMEOUT_SECONDS = 60;
/** As `heron update`: tasks that retire have 60 s to do so. */
const UPDATE_TIMEOUT_SECONDS = 180;
const TIMEOUT_SECONDS_MAX = 86_400;
const NUMBER = /^-?\d{1,9}$/;

const number = z.preprocess(
  (value) => (typeof value === 'string' && NUMBER.test(value) ? Number(value) : value),
  z.int('a whole number is expected'),
);

/** Heron's forms say yes by naming it, with whatever value. */
const flag = z
  .union([z.boolean(), z.string()])
  .optional()
  .transform((value) => value !== undefined && value !== false && value !== 'false');

/** Yes unless denied. */
const flagByDefault = z
  .union([z.boolean(), z.string()])
  .optional()
  .transform((value) => value !== false && value !== 'false');

const texts = listOf(z.string());

/** A form's single value stands for a list of one. */
function listOf(member: z.ZodString) {
  return z.preprocess(
    (value) => (value === undefined ? [] : typeof value === 'string' ? [value] : value),
    z.array(member),
  );
}

function timeout(seconds: number) {
  const max = `at most ${TIMEOUT_SECONDS_MAX} seconds are possible`;
  return number
    .pipe(z.number().min(1, 'at least one second is needed').max(TIMEOUT_SECONDS_MAX, max))
    .optional()
    .transform((value) => value ?? seconds);
}

export const restartBody = z.strictObject({
  /** Heron's; -1, and so it is unless set, are all containers. */
  container_id: number.optional(),
  /** A process by its name in the container reports. */
  process: z.string().optional(),
  timeout: timeout(TIMEOUT_SECONDS),
});

export function restartAction(body: z.output<typeof restartBody>): TopologyAction {
  const { container_id: container, process, timeout: timeoutSeconds } = body;
  const what = process ?? (container === undefined ? undefined : String(container));
  return { kind: 'restart', what, timeoutSeconds };
}

const PARALLELISM = /^([^:]+):(-?\d{1,9})$/;
const parallelism = z.string().regex(PARALLELISM, 'it is written component:number');

export const updateBody = z.strictObject({
  component_parallelism: listOf(parallelism),
  container_number: number.optional(),
  runtime_config: texts,
  dry_run: flag,
  /** Heron's; the plan comes as JSON whatever it says. */
  dry_run_format: z.string().optional(),
  force: flag,
  wait: flagByDefault,
  timeout: timeout(UPDATE_TIMEOUT_SECONDS),
});

export function updateAction(body: z.output<typeof updateBody>): TopologyAction {
  const numbers = body.component_parallelism.map((text) => {
    const [, component = '', tasks = ''] = PARALLELISM.exec(text) ?? [];
    return [component, Number(tasks)] as const;
  });
  return {
    kind: 'update',
    componentParallelism: new Map(numbers),
    containerNumber: body.container_number,
    runtimeConfig: body.runtime_config,
    isDryRun: body.dry_run,
    force: body.force,
    wait: body.wait,
    timeoutSeconds: body.timeout,
  };
}

export const logLevelBody = z.strictObject({
  level: z.enum(['debug', 'info', 'warn', 'error']),
  /** All of the topology unless set. */
  component: z.string().optional(),
  timeout: timeout(TIMEOUT_SECONDS),
});

/** The level is a setting that changes at run time. */
export function logLevelAction(body: z.output<typeof logLevelBody>): TopologyAction {
  const { level, component, timeout: timeoutSeconds } = body;
  const owner = component === undefined ? '' : `${component}:`;
  return {
    kind: 'update',
    componentParallelism: new Map(),
    containerNumber: undefined,
    runtimeConfig: [`${owner}topology.log.level:${level}`],
    isDryRun: false,
    force: false,
    wait: true,
    timeoutSeconds,
  };
}

export const killBody = z.strictObject({ drain: flag, timeout: timeout(TIMEOUT_SECONDS) });

export function killAction(body: z.output<typeof killBody>): TopologyAction {
  return { kind: 'kill', drain: body.drain, timeoutSeconds: body.timeout };
}

export const lettersBody = z.strictObject({
  /** All, or all that the other two leave, unless set. */
  id: texts,
  component: z.string().optional(),
  reason: z.enum(DEAD_LETTER_KINDS).optional(),
  timeout: timeout(TIMEOUT_SECONDS),
});

export function lettersAction(
  kind: 'replay-dead-letters' | 'purge-dead-letters',
  { id, component, reason, timeout: timeoutSeconds }: z.output<typeof lettersBody>,
): TopologyAction {
  const choice: LetterChoice = { ids: id, component, reason };
  return { kind, ...choice, timeoutSeconds };
}

export const emptyBody = z.strictObject({});

const PROFILE_SECONDS_MAX = 300;
const SAMPLE_SECONDS = 10;
const SAMPLE_COUNT = 10;
const SAMPLE_COUNT_MAX = 1_000;

function upTo(max: number, otherwise: number) {
  return number
    .pipe(z.number().min(1).max(max))
    .optional()
    .transform((value) => value ?? otherwise);
}

export const profileBody = z.strictObject({
  process: z.string(),
  seconds: upTo(PROFILE_SECONDS_MAX, SAMPLE_SECONDS),
});

export const heapBody = z.strictObject({ process: z.string() });

export const sampleBody = z.strictObject({
  /** An instance. */
  process: z.string(),
  /** All of its streams unless set. */
  stream: z.string().optional(),
  count: upTo(SAMPLE_COUNT_MAX, SAMPLE_COUNT),
  seconds: upTo(PROFILE_SECONDS_MAX, SAMPLE_SECONDS),
});
