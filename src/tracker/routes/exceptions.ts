import { z } from '@hono/zod-openapi';
import type { KeptException } from '../../topology-client/metrics-cache-client.ts';
import { findView, oneTopology } from '../find-view.ts';
import { checkComponent, namesOf } from '../metrics/known-component.ts';
import type { TrackerApp } from '../tracker-app.ts';
import type { TrackerParts } from '../tracker-parts.ts';

/* Heron's paths for what user code has thrown. */

const TAG = 'exceptions';
/** What Heron's UI asks for; a component that is really called so wins. */
const ALL = 'All';

const query = oneTopology.extend({
  component: z.string().openapi({ description: `a component's name, or ${ALL}` }),
  instance: z.array(z.string()).default([]).openapi({ description: 'none: all instances' }),
});

const times = { lasttime: z.string(), firsttime: z.string(), count: z.string() };

const exceptions = z.array(
  z.object({
    hostname: z.string(),
    instance_id: z.string(),
    stacktrace: z.string(),
    ...times,
    logging: z.string(),
  }),
);

const summaries = z.array(z.object({ class_name: z.string(), ...times }));

export function registerExceptions(app: TrackerApp, parts: TrackerParts): void {
  app.get({
    path: '/topologies/exceptions',
    summary: 'What the code of a component has thrown',
    tag: TAG,
    query,
    answer: exceptions,
    respond: async (asked) =>
      (await found(parts, asked, false)).map((thrown) => ({
        hostname: thrown.hostname,
        instance_id: thrown.instanceId,
        stacktrace: thrown.stacktrace,
        ...timesOf(thrown),
        logging: thrown.logging,
      })),
  });
  app.get({
    path: '/topologies/exceptionsummary',
    summary: 'What the code of a component has thrown, by class',
    tag: TAG,
    query,
    answer: summaries,
    respond: async (asked) =>
      (await found(parts, asked, true)).map((thrown) => ({
        class_name: thrown.stacktrace,
        ...timesOf(thrown),
      })),
  });
}

async function found(
  { snapshots, metrics }: TrackerParts,
  asked: z.output<typeof query>,
  isSummary: boolean,
): Promise<readonly KeptException[]> {
  const view = findView(snapshots.now(), asked);
  const { component, instance: instances } = asked;
  const names = namesOf(view);
  const isAll = component === ALL && !names.includes(ALL);
  if (!isAll) checkComponent(view, component);
  const wanted = isAll ? names : [component];
  const answers = await Promise.all(
    wanted.map((name) => metrics.exceptions(view, { component: name, instances, isSummary })),
  );
  return answers.flat();
}

/** Heron's Tracker tells counts as text. */
function timesOf({ lasttime, firsttime, count }: KeptException) {
  return { lasttime, firsttime, count: String(count) };
}
