import { hasCode } from '../base/errors.ts';
import { type HttpAnswer, type HttpHandler, textAnswer } from '../net/http-rules.ts';
import type { RequestType } from '../wire/message-type.ts';
import { QueryExceptions, QueryMetrics } from '../wire/messages.ts';
import { QuerySeries } from '../wire/series-messages.ts';
import { answerSeries } from './series-answers.ts';
import {
  answerExceptions,
  answerExceptionSummary,
  answerMetrics,
  type StatsFacts,
} from './stats-answers.ts';

/*
  The HTTP port for questions. A request's body and its answer are protobuf messages, Heron's but
  for `/series`; what cannot be read, and an unknown path, is a 400. Read only, so no token is
  asked for.
*/

/** `facts` is called for each question. */
export function statsHandler(facts: () => StatsFacts): HttpHandler {
  return ({ path, body }) => {
    switch (path) {
      case '/stats':
        return answerWith(QueryMetrics, body, (query) => answerMetrics(query, facts()));
      case '/exceptions':
        return answerWith(QueryExceptions, body, (query) => answerExceptions(query, facts()));
      case '/exceptionsummary':
        return answerWith(QueryExceptions, body, (query) => answerExceptionSummary(query, facts()));
      case '/series':
        return answerWith(QuerySeries, body, (query) => answerSeries(query, facts()));
      default:
        return textAnswer(400, 'Not Supported');
    }
  };
}

export function answerWith<Query, Answer>(
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
