import type { Readable, Writable } from 'node:stream';

export interface PersonOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly interruption: AbortSignal;
  /** Ctrl-C, which a terminal that is being read from sends as a letter. */
  readonly onInterrupt: () => void;
}

/** Asks for a yes; anything else, the end of the input and Ctrl-C are a no. */
export async function askPerson(question: string, options: PersonOptions): Promise<boolean> {
  const { input, output, interruption, onInterrupt } = options;
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input, output });
  lines.on('SIGINT', onInterrupt);
  const answer = await new Promise<string>((resolve) => {
    const refuse = (): void => resolve('');
    lines.on('close', refuse);
    interruption.addEventListener('abort', refuse, { once: true });
    if (interruption.aborted) refuse();
    else lines.question(`${question} [y/N] `, resolve);
  });
  lines.close();
  return /^y(?:es)?$/i.test(answer.trim());
}
