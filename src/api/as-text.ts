/** JSON where a position or a message id can be that, which one of the user's may not. */
export function asText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value); // A bigint, for example.
  }
}
