import { assertDefined } from '../base/assert.ts';
import { toEnvelope } from '../base/errors.ts';
import { EXIT } from '../base/exit-codes.ts';
import { topologyId } from '../base/ids.ts';
import { encodeTopology } from '../wire/topology.ts';
import type { InspectAnswer, InspectRequest } from './inspect-protocol.ts';
import { loadTopologyModule } from './load-module.ts';
import { moduleFailed } from './module-error.ts';

/*
  A process of its own for one look at a user's module, because loading a module runs it: it may end
  the process, never end itself, or leave timers and sockets behind.
*/

const send = assertDefined(process.send?.bind(process), 'started by inspectModule');

/** Ends the process once the answer is out, whatever the module keeps open. */
function answer(message: InspectAnswer): void {
  // oxlint-disable-next-line unicorn/no-process-exit -- the module may keep the event loop busy.
  send(message, undefined, {}, () => process.exit(EXIT.ok));
}

async function inspect(request: InspectRequest): Promise<InspectAnswer> {
  try {
    const { topology } = await loadTopologyModule(request.file, {
      ...(request.name === undefined ? {} : { name: request.name }),
      shownAs: request.shownAs,
      args: request.arguments,
      config: request.config,
      baseConfig: request.baseConfig,
    });
    const definition = encodeTopology({
      ...topology,
      id: topologyId(`${topology.name}${request.idSuffix}`),
      state: request.initialState,
      module: { file: request.moduleFile, arguments: request.arguments },
    });
    return { kind: 'topology', definition };
  } catch (error) {
    return { kind: 'failed', error: toEnvelope(error, 'MODULE_FAILED') };
  }
}

// Without its parent nobody wants the answer any more.
process.on('disconnect', () => process.exit(EXIT.failure));
process.once('message', (request: InspectRequest) => {
  /** Code that the module started and nobody waits for. */
  const onEscapedError = (error: unknown): void => {
    const failure = moduleFailed(`the module ${request.shownAs} failed while it was loaded`, error);
    answer({ kind: 'failed', error: toEnvelope(failure) });
  };
  process.on('uncaughtException', onEscapedError); // Unhandled rejections come here too.
  void inspect(request).then(answer);
});
