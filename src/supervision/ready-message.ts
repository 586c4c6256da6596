/** What a child says by `process.send` when its `Command` has `saysReady`, and it does its work. */
export const READY = { heron: 'ready' } as const;

/** Says it to the process that started this one; the channel has no other use and is closed. */
export function sayReady(): void {
  if (process.send === undefined) return;
  process.send(READY, () => {
    if (process.connected) process.disconnect();
  });
}
