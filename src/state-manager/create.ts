import { FileStateManager, type FileStateManagerOptions } from './file/file-state-manager.ts';
import { MemoryStateManager } from './memory/memory-state-manager.ts';
import type { StateManager } from './state-manager.ts';

export type StateManagerOptions =
  | ({ readonly kind: 'file' } & FileStateManagerOptions)
  | { readonly kind: 'memory' };

/** Makes a state manager. It touches nothing until it is used. */
export function createStateManager(options: StateManagerOptions): StateManager {
  return options.kind === 'file' ? new FileStateManager(options) : new MemoryStateManager();
}
