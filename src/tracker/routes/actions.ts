import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { EngineError, messageOf } from '../../base/errors.ts';
import { DEAD_LETTER_KINDS } from '../../model/dead-letter.ts';
import { findContainer, type ContainerClient } from '../../topology-client/container-client.ts';
import { type AccessToken, whoActs } from '../actions/access.ts';
import {
  emptyBody,
  heapBody,
  killAction,
  killBody,
  lettersAction,
  lettersBody,
  logLevelAction,
  logLevelBody,
  profileBody,
  restartAction,
  restartBody,
  sampleBody,
  updateAction,
  updateBody,
} from '../actions/action-bodies.ts';
import type { AuditLog } from '../actions/audit-log.ts';
import { readBody } from '../actions/read-body.ts';
import type {
  ActionError,
  ActionOutcome,
  ActionPlace,
  TopologyAction,
  TrackerActions,
} from '../actions/tracker-actions.ts';
import { findView } from '../find-view.ts';
import type { TrackerApp } from '../tracker-app.ts';
import { failureOf, refusal } from '../tracker-error.ts';
import type { TrackerParts } from '../tracker-parts.ts';

/*
  Actions, on the paths of Heron's API server and on some of ours. Whoever posts needs a token
  (actions/access.ts), and each action is in the audit log before it begins. An answer holds Heron's
  `message`, and what the command of the same name prints with --json.
*/

const BASE = '/api/v1/topologies/{cluster}/{role}/{environment}/{name}';
/** An update waits for tasks to retire: such answers may take minutes. */
const AT_ONCE_MAX = 16;

export interface ActionParts {
  readonly actions: TrackerActions;
  /** Undefined: only questions are answered. */
  readonly tokens: readonly AccessToken[] | undefined;
  readonly audit: AuditLog | undefined;
}

const actionAnswer = z.object({
  message: z.string(),
  result: z.unknown(),
  warnings: z.array(z.string()),
});

/** An action's path below that of its topology, and what it makes of its body. */
interface ActionRoute<Body extends z.ZodObject> {
  readonly method: 'post' | 'delete';
  readonly path: string;
  readonly summary: string;
  readonly body: Body;
  readonly said: (name: string) => string;
  readonly perform: (place: ActionPlace, body: z.output<Body>) => Promise<ActionOutcome>;
}

export function registerActions(app: TrackerApp, parts: TrackerParts, given: ActionParts): void {
  const routes = new ActionRoutes(app, given);
  const { actions } = given;
  const does =
    <Body>(wish: (body: Body) => TopologyAction) =>
    (place: ActionPlace, body: Body): Promise<ActionOutcome> =>
      actions.perform(place, wish(body));
  registerLifeCycle(routes, does);
  registerLetters(routes, does);
  registerInspections(routes, parts);
  registerQuestions(app, given);
}

type Does = <Body>(
  wish: (body: Body) => TopologyAction,
) => (place: ActionPlace, body: Body) => Promise<ActionOutcome>;

function registerLifeCycle(routes: ActionRoutes, does: Does): void {
  for (const kind of ['activate', 'deactivate'] as const) {
    routes.add({
      method: 'post',
      path: `/${kind}`,
      summary: kind === 'activate' ? 'Lets its spouts emit again.' : 'Lets its spouts rest.',
      body: emptyBody,
      said: (name) => `${name} ${kind}d`,
      perform: does(() => ({ kind })),
    });
  }
  routes.add({
    method: 'post',
    path: '/restart',
    summary: 'Starts containers, or one process, anew.',
    body: restartBody,
    said: (name) => `${name} restarted`,
    perform: does(restartAction),
  });
  routes.add({
    method: 'post',
    path: '/update',
    summary: 'Changes it while it runs; with dry_run it only tells what would change.',
    body: updateBody,
    said: (name) => `${name} updated`,
    perform: does(updateAction),
  });
  routes.add({
    method: 'post',
    path: '/log-level',
    summary: 'Changes from which level on its processes write log lines.',
    body: logLevelBody,
    said: (name) => `${name} updated`,
    perform: does(logLevelAction),
  });
  routes.add({
    method: 'delete',
    path: '',
    summary: 'Ends it and leaves nothing of it.',
    body: killBody,
    said: (name) => `${name} killed`,
    perform: does(killAction),
  });
}

function registerLetters(routes: ActionRoutes, does: Does): void {
  for (const kind of ['replay', 'purge'] as const) {
    routes.add({
      method: 'post',
      path: `/dead-letters/${kind}`,
      summary: kind === 'replay' ? 'Has dead letters emitted again.' : 'Removes dead letters.',
      body: lettersBody,
      said: (name) => `dead letters of ${name} ${kind === 'replay' ? 'replayed' : 'purged'}`,
      perform: does((body) => lettersAction(`${kind}-dead-letters`, body)),
    });
  }
}

function registerInspections(routes: ActionRoutes, parts: TrackerParts): void {
  const inspect =
    <Body extends { readonly process: string }>(
      ask: (container: ContainerClient, body: Body) => Promise<object>,
    ) =>
    async (place: ActionPlace, body: Body): Promise<ActionOutcome> => {
      const { container, client } = containerOf(parts, place, body.process);
      return { isDone: true, result: { container, ...(await ask(client, body)) }, warnings: [] };
    };
  routes.add({
    method: 'post',
    path: '/profile',
    summary: 'Writes down where a process spends its time; the file is in its container.',
    body: profileBody,
    said: (name) => `a process of ${name} profiled`,
    perform: inspect((client, { process, seconds }) => client.profile(process, { seconds })),
  });
  routes.add({
    method: 'post',
    path: '/heap',
    summary: 'Writes down what the heap of a process holds; the file is in its container.',
    body: heapBody,
    said: (name) => `a heap of ${name} written down`,
    perform: inspect((client, { process }) => client.heapSnapshot(process)),
  });
  routes.add({
    method: 'post',
    path: '/sample',
    summary: 'Shows the next tuples that an instance emits.',
    body: sampleBody,
    said: (name) => `tuples of ${name} sampled`,
    perform: inspect((client, { process, stream, ...wish }) =>
      client.sample(process, { ...wish, ...(stream !== undefined && { stream }) }),
    ),
  });
}

/** @throws HTTPException 404, 503 */
function containerOf(parts: TrackerParts, place: ActionPlace, process: string) {
  const view = findView(parts.snapshots.now(), place);
  const report = view.reports.find(({ processes }) =>
    processes.some(({ name }) => name === process),
  );
  if (report === undefined) {
    const known = view.reports.flatMap(({ processes }) => processes.map(({ name }) => name));
    const list = known.length === 0 ? 'none has been reported' : `there are ${known.join(', ')}`;
    throw refusal(404, `${view.name} has no process '${process}': ${list}`);
  }
  const token = parts.snapshots.tokenOf(view);
  const client = token === undefined ? undefined : findContainer(report, token);
  if (client === undefined) {
    throw refusal(503, `container ${report.containerId} of ${view.name} cannot be asked`);
  }
  return { container: report.containerId, client };
}

const letterQuery = z.object({
  component: z.string().optional(),
  reason: z.enum(DEAD_LETTER_KINDS).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(20),
});

/** What changes nothing needs no token, as everything else that a Tracker shows. */
function registerQuestions(app: TrackerApp, { actions, tokens }: ActionParts): void {
  app.get({
    path: '/api/v1/actions',
    summary: 'Whether actions are allowed.',
    tag: 'actions',
    query: z.object({}),
    answer: z.object({ allowed: z.boolean() }),
    respond: () => ({ allowed: tokens !== undefined }),
  });
  const path = `${BASE}/dead-letters`;
  app.hono.openAPIRegistry.registerPath({
    method: 'get',
    path,
    summary: 'The newest dead letters.',
    tags: ['actions'],
    request: { query: letterQuery },
    responses: { 200: { description: 'As heron dead-letters list --json prints them.' } },
  });
  app.hono.get(asPattern(path), async (context) => {
    const read = letterQuery.safeParse(context.req.query());
    if (!read.success) throw refusal(400, z.prettifyError(read.error));
    const { component, reason, limit } = read.data;
    const question = { kind: 'list-dead-letters', component, reason, limit } as const;
    return answerOf(context, await actions.perform(placeOf(context), question));
  });
  app.hono.get(asPattern(`${path}/{id}`), async (context) => {
    const question = { kind: 'show-dead-letters', ids: [context.req.param('id') ?? ''] } as const;
    return answerOf(context, await actions.perform(placeOf(context), question));
  });
}

class ActionRoutes {
  readonly #app: TrackerApp;
  readonly #parts: ActionParts;
  #underWay = 0;

  constructor(app: TrackerApp, parts: ActionParts) {
    this.#app = app;
    this.#parts = parts;
  }

  add<Body extends z.ZodObject>(route: ActionRoute<Body>): void {
    const { method, path, summary, body } = route;
    const json = { schema: actionAnswer };
    this.#app.hono.openAPIRegistry.registerPath({
      method,
      path: `${BASE}${path}`,
      summary,
      tags: ['actions'],
      request: {
        body: {
          content: {
            'application/json': { schema: body },
            'application/x-www-form-urlencoded': { schema: body },
          },
        },
      },
      responses: {
        200: { description: 'It is done.', content: { 'application/json': json } },
        401: { description: 'A token is missing or unknown.' },
        403: { description: 'Actions are not allowed, or the request is another site’s.' },
        422: { description: 'The body is wrong.' },
        default: { description: 'It failed; the answer says why.' },
      },
    });
    this.#app.hono.on([method.toUpperCase()], [asPattern(`${BASE}${path}`)], (context) =>
      this.#act(context, route),
    );
  }

  async #act<Body extends z.ZodObject>(
    context: Context,
    { method, path, body: schema, said, perform }: ActionRoute<Body>,
  ): Promise<Response> {
    const { tokens, audit } = this.#parts;
    const place = placeOf(context);
    const action = path === '' ? method : path.slice(1);
    const noted = { from: remoteOf(context), action, place };
    const who = this.#admit(context, (reason) => audit?.refused(noted, reason), tokens);
    const body = await readBody(context.req.raw, schema);
    if (this.#underWay >= AT_ONCE_MAX) throw refusal(429, 'too many actions are under way');
    const end = audit?.begin({ ...noted, who, wish: body });
    this.#underWay += 1;
    try {
      const outcome = await perform(place, body);
      end?.(outcome.isDone ? 'done' : outcome.error.message);
      return answerOf(context, outcome, said(place.topology));
    } catch (error) {
      end?.(messageOf(error));
      throw error;
    } finally {
      this.#underWay -= 1;
    }
  }

  #admit(
    context: Context,
    onRefused: (reason: string) => void,
    tokens: readonly AccessToken[] | undefined,
  ): string {
    try {
      return whoActs(context.req.header('authorization'), tokens);
    } catch (error) {
      onRefused(messageOf(error));
      throw error;
    }
  }
}

function placeOf(context: Context): ActionPlace {
  const { cluster, role, environment, name } = context.req.param() as Record<string, string>;
  return {
    cluster: cluster ?? '',
    role: role ?? '',
    environ: environment ?? '',
    topology: name ?? '',
  };
}

/** OpenAPI's `{name}` is the router's `:name`. */
function asPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function answerOf(context: Context, outcome: ActionOutcome, message?: string): Response {
  if (!outcome.isDone) return failed(context, outcome.error);
  const { result, warnings } = outcome;
  return context.json(message === undefined ? result : { message, result, warnings });
}

function failed(context: Context, error: ActionError): Response {
  const { code, domain, message } = error;
  const { status } = failureOf(new EngineError(code, message, { domain }));
  return context.json({ message, error }, status);
}

/** Undefined where the request did not come over a connection, as in tests. */
function remoteOf(context: Context): string {
  const { incoming } = (context.env ?? {}) as {
    readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
  };
  return incoming?.socket?.remoteAddress ?? 'unknown';
}
