import { ENGINE_VERSION } from '../../base/version.ts';
import type { CommandResult } from '../command-context.ts';

export function version(): CommandResult {
  const { platform, arch, versions } = process;
  const json = { version: ENGINE_VERSION, node: versions.node, platform: `${platform}-${arch}` };
  const text = `heron-ts ${json.version} (Node ${json.node}, ${json.platform})`;
  return { json, text };
}
