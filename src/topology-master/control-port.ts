import { hasCode, messageOf } from '../base/errors.ts';
import type { TopologyId } from '../base/ids.ts';
import { isSameSecret } from '../base/secret.ts';
import type { TopologyState } from '../model/logical-topology.ts';
import { parseRuntimeChange, type RuntimeChange } from '../model/runtime-config.ts';
import { TOKEN_HEADER } from '../wire/token-header.ts';
import {
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest,
  textAnswer,
} from '../net/http-rules.ts';

/*
  The HTTP port for commands, with Heron's paths, parameters and texts. Where ours departs: commands
  are idempotent, so activating a running topology succeeds; and a command needs the topology's
  token in the header `x-heron-token`, unless all components are another engine's, whose tools know
  no token.
*/

/** What the port commands; it is the plan's keeper. */
export interface CommandedTopology {
  /** Undefined before the first plan. */
  readonly state: TopologyState | undefined;
  /** The newest plan as bytes; undefined before the first one or while a stream manager is away. */
  planBytes(): Uint8Array | undefined;
  /** Resolves when the state is stored; does nothing when it is so already. */
  setState(state: TopologyState): Promise<void>;
  /**
   * Resolves when the changes are stored; does nothing when they are so already.
   *
   * @throws EngineError INVALID_CONFIG for what cannot change.
   */
  setConfig(changes: readonly RuntimeChange[]): Promise<void>;
}

export interface ControlPortOptions {
  readonly topology: CommandedTopology;
  readonly topologyId: TopologyId;
  readonly token: string;
  readonly isForeign: boolean;
}

export function controlHandler(options: ControlPortOptions): HttpHandler {
  return (request) => {
    switch (request.path) {
      case '/activate':
        return changeState(request, options, 'RUNNING', 'Topology successfully activated');
      case '/deactivate':
        return changeState(request, options, 'PAUSED', 'Topology successfully deactivated');
      case '/runtime_config/update':
        return changeConfig(request, options);
      case '/get_current_physical_plan':
        return currentPlan(options.topology);
      default:
        return textAnswer(404, 'Not Supported');
    }
  };
}

async function changeState(
  request: HttpRequest,
  options: ControlPortOptions,
  state: TopologyState,
  done: string,
): Promise<HttpAnswer> {
  const refusal = refusalOf(request, options);
  if (refusal !== undefined) return refusal;
  try {
    await options.topology.setState(state);
    return { status: 200, contentType: 'text/plain', body: done };
  } catch (error) {
    const reason = hasCode(error, 'TOPOLOGY_NOT_READY')
      ? 'Tmanager still not initialized (physical plan is not available)'
      : 'The new state could not be stored';
    return { ...textAnswer(500, reason), body: `${reason}: ${messageOf(error)}` };
  }
}

const NO_CONFIG = 'No runtime config is found. Usage: runtime-config=[COMPONENT:]<CONFIG>:<VALUE>.';
const BAD_FORMAT =
  'Failed to parse runtime configs. Possibly bad format. ' +
  'The expected format is [COMPONENT:]<CONFIG>:<VALUE>.';

async function changeConfig(
  request: HttpRequest,
  options: ControlPortOptions,
): Promise<HttpAnswer> {
  const refusal = refusalOf(request, options);
  if (refusal !== undefined) return refusal;
  const texts = parametersOf(request).getAll('runtime-config');
  if (texts.length === 0) return textAnswer(400, NO_CONFIG);
  const changes = texts.map(parseRuntimeChange);
  if (!changes.every((change) => change !== undefined)) return textAnswer(400, BAD_FORMAT);
  try {
    await options.topology.setConfig(changes);
    return { status: 200, contentType: 'text/plain', body: 'Runtime config updated' };
  } catch (error) {
    const isRefused = hasCode(error, 'INVALID_CONFIG');
    const reason = isRefused
      ? 'Failed to validate runtime configs'
      : 'Failed to update runtime configs';
    const answer = textAnswer(isRefused ? 400 : 500, reason);
    return { ...answer, body: `${reason}: ${messageOf(error)}` };
  }
}

function refusalOf(request: HttpRequest, options: ControlPortOptions): HttpAnswer | undefined {
  const token = request.headers[TOKEN_HEADER];
  const isTrusted =
    (options.isForeign && token === undefined) ||
    (typeof token === 'string' && isSameSecret(token, options.token));
  if (!isTrusted) return textAnswer(403, `The header ${TOKEN_HEADER} must hold the token`);
  const id = parametersOf(request).get('topologyid');
  if (id === null) return textAnswer(400, "Missing 'topologyid' argument in the request");
  if (id !== options.topologyId) return textAnswer(400, 'Topology id does not match');
  return undefined;
}

/** As Heron's server reads them: a form in the body hides the query. */
export function parametersOf({ method, query, headers, body }: HttpRequest): URLSearchParams {
  if (method !== 'POST' && method !== 'PUT') return query;
  const type = headers['content-type'];
  const isForm =
    type === undefined ||
    (typeof type === 'string' && type.startsWith('application/x-www-form-urlencoded'));
  return isForm ? new URLSearchParams(body.toString('utf8')) : query;
}

function currentPlan(topology: CommandedTopology): HttpAnswer {
  const bytes = topology.planBytes();
  if (bytes === undefined) return textAnswer(400, 'The physical plan is not complete');
  return { status: 200, contentType: 'text/plain', body: Buffer.from(bytes).toString('base64') };
}
