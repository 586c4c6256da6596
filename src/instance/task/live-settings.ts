import { componentSettings } from '../../model/component-settings.ts';
import type { Component, LogicalTopology } from '../../model/logical-topology.ts';
import type { TaskAccounts } from './task-accounts.ts';

/**
 * The settings that count while a component runs, but for the log's level, which its task heeds;
 * all others are read once (docs/concepts.md).
 */
export function heedLiveSettings(
  topology: LogicalTopology,
  component: Component,
  { accounts, wake }: { readonly accounts: TaskAccounts; readonly wake: () => void },
): void {
  if (accounts.kind !== 'tracked-spout') return;
  const settings = componentSettings(topology, component);
  accounts.messages.pendingMax = settings.get('topology.max.spout.pending');
  wake(); // There may be room for more messages now.
}
