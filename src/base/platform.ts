/** The oldest Node that runs the engine: type stripping, `using`, and the inspector for workers. */
const NODE_MAJOR_MIN = 24;

/** Why the engine does not run here, in one line; undefined where it does. */
export function platformProblem(nodeVersion: string, platform: string): string | undefined {
  if (platform === 'win32') {
    return 'heron-ts does not run on Windows; use Linux, for example in WSL 2';
  }
  if (Number.parseInt(nodeVersion, 10) < NODE_MAJOR_MIN) {
    return `heron-ts needs Node ${NODE_MAJOR_MIN} or newer; this is ${nodeVersion}`;
  }
  return undefined;
}
