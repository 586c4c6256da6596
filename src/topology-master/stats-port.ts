import type { StreamManagerId } from '../base/ids.ts';
import type { StatsFacts } from '../metrics-store/stats-answers.ts';
import { answerWith, statsHandler } from '../metrics-store/stats-handler.ts';
import type { HttpHandler } from '../net/http-rules.ts';
import { QueryRegistrations } from '../wire/messages.ts';

/** What the topology master alone knows. */
export interface Registrations {
  readonly registered: readonly StreamManagerId[];
  readonly absent: readonly StreamManagerId[];
}

/** The master's HTTP port for questions: those about metrics, and who has registered. */
export function masterStatsHandler(
  facts: () => StatsFacts,
  registrations: () => Registrations,
): HttpHandler {
  const answerMetrics = statsHandler(facts);
  return (request) =>
    request.path === '/stmgrsregistrationsummary'
      ? answerWith(QueryRegistrations, request.body, () => summary(registrations()))
      : answerMetrics(request);
}

function summary({ registered, absent }: Registrations) {
  return QueryRegistrations.response.create({
    registeredStmgrs: [...registered],
    absentStmgrs: [...absent],
  });
}
