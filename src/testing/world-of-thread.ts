import type { Kernel } from '../simulation/kernel/kernel.ts';
import type { SimulatedThread } from '../simulation/kernel/simulated-thread.ts';
import type { RealAccess, UserCodeWorld } from './user-code.ts';

/** The world of the user code that runs on a simulated thread. */
export function worldOfThread(
  thread: SimulatedThread,
  options: {
    readonly kernel: Kernel;
    readonly where: string;
    readonly allow: readonly RealAccess[];
    readonly crash: () => void;
  },
): UserCodeWorld {
  const { kernel, where, allow, crash } = options;
  return {
    where,
    clock: thread.clock,
    random: kernel.random(`user code of ${where}`),
    allowed: new Set(allow),
    outside: (work) => kernel.outside(thread, work),
    post: (call) => void thread.post(0, call),
    spend: (ms) => thread.spend(ms),
    crash,
  };
}
