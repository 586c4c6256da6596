import type { WantedProcess } from './wanted-processes.ts';

/** `<component>=<port>`: the first task listens for a debugger there, the next one port above. */
export const INSPECT_VARIABLE = 'HERON_INSPECT';

/** Node's arguments for a process that a debugger is to look into; none for the others. */
export function inspectFlags(
  { flags }: Pick<WantedProcess, 'flags'>,
  variables: NodeJS.ProcessEnv,
): readonly string[] {
  const [, component, port] = /^(.+)=(\d+)$/.exec(variables[INSPECT_VARIABLE] ?? '') ?? [];
  if (component === undefined || !flags.includes(`--component-name=${component}`)) return [];
  const index = flags.find((flag) => flag.startsWith('--component-index='))?.split('=')[1];
  return [`--inspect=127.0.0.1:${Number(port) + Number(index ?? 0)}`];
}

/** Whether a debugger may stop the process for as long as somebody looks at it. */
export function isInspected(
  nodeArguments: readonly string[],
  variables: NodeJS.ProcessEnv,
): boolean {
  const options = [...nodeArguments, ...(variables['NODE_OPTIONS'] ?? '').split(' ')];
  return options.some((option) => /^--inspect\b/.test(option));
}
