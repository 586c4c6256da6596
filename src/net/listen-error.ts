import { type EngineError, environmentError, messageOf } from '../base/errors.ts';
import { systemCodeOf } from '../base/system-codes.ts';
import { type Address, addressText } from './network.ts';

/** Why nobody can listen there: PORT_IN_USE, or CONNECTION_LOST for an address that is not here. */
export function listenError(address: Address, cause: Error): EngineError {
  const where = addressText(address);
  return systemCodeOf(cause) === 'EADDRINUSE'
    ? environmentError('PORT_IN_USE', `${where} is in use by another process`, { cause })
    : environmentError('CONNECTION_LOST', `cannot listen on ${where}: ${messageOf(cause)}`, {
        cause,
      });
}
