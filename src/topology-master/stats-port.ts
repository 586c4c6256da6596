import { hasCode } from '../base/errors.ts';
import type { RequestType } from '../wire/message-type.ts';
import { QueryExceptions, QueryMetrics, QueryRegistrations } from '../wire/messages.ts';
import { type HttpAnswer, type HttpHandler, textAnswer } from '../net/http-server.ts';
import {
  answerExceptions,
  answerExceptionSummary,
  answerMetrics,
  answerRegistrations,
  type StatsFacts,
} from './stats-answers.ts';

/*
  The HTTP port for questions. A request's body and its answer are Heron's protobuf messages; what
  cannot be read, and an unknown path, is a 400. Read only, so no token is asked for.
*/

/** `facts` is called for each question. */
export function statsHandler(facts: () => StatsFacts): HttpHandler {
  return ({ path, body }) => {
    switch (path) {
      case '/stats':
        return answer(QueryMetrics, body, (query) => answerMetrics(query, facts()));
      case '/exceptions':
        return answer(QueryExceptions, body, (query) => answerExceptions(query, facts()));
      case '/exceptionsummary':
        return answer(QueryExceptions, body, (query) => answerExceptionSummary(query, facts()));
      case '/stmgrsregistrationsummary':
        return answer(QueryRegistrations, body, () => answerRegistrations(facts()));
      default:
        return textAnswer(400, 'Not Supported');
    }
  };
}

function answer<Query, Answer>(
  type: RequestType<Query, Answer>,
  body: Uint8Array,
  make: (query: Query) => Answer,
): HttpAnswer {
  let query: Query;
  try {
    query = type.request.decode(body);
  } catch (error) {
    if (hasCode(error, 'PACKET_MALFORMED')) return textAnswer(400, 'Unable to parse the request');
    throw error;
  }
  const bytes = type.response.encode(make(query));
  return { status: 200, contentType: 'application/octet-stream', body: bytes };
}
