import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** What a Tracker answers to a path, or how it refuses. */
export type TrackerAnswer = object | TrackerRefusal;

interface TrackerRefusal {
  readonly status: number;
  readonly body: string;
}

export interface ScriptedTracker {
  readonly url: string;
  /** The paths with their queries, as they were asked. */
  readonly asked: readonly string[];
}

/** A Tracker that knows what a test tells it, by path. */
export async function scriptedTracker(
  t: TestContext,
  answers: Readonly<Record<string, TrackerAnswer>>,
): Promise<ScriptedTracker> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const [path = ''] = (request.url ?? '').split('?');
    const answer = answers[path] ?? { status: 404, body: '"Not Found"' };
    const refusal = 'body' in answer ? answer : undefined;
    response.statusCode = refusal === undefined ? 200 : refusal.status;
    response.end(refusal === undefined ? JSON.stringify(answer) : refusal.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}
