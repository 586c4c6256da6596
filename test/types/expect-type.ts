/** True only for the very same type; `any` equals nothing but itself. */
export type Equal<Left, Right> =
  (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;

/** Compiles only for a type that is `true`; does nothing when it runs. */
export function expectType<Condition extends true>(): Condition | undefined {
  return undefined;
}
