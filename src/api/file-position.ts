/** Where a line is: the position of a file source. */
export class FilePosition {
  readonly file: string;
  /** Of the first byte of the line in the file. */
  readonly offset: number;
  /** Of the first byte behind the line and its end. */
  readonly end: number;
  /** In the order in which the lines of all files of a task were read. */
  readonly #number: number;

  constructor(file: string, offset: number, end: number, number: number) {
    this.file = file;
    this.offset = offset;
    this.end = end;
    this.#number = number;
  }

  /** For the source: whether this one was read before, or is, another one. */
  isUpTo(other: FilePosition): boolean {
    return this.#number <= other.#number;
  }
}

/** Of a position that may have been through JSON; undefined when it is none. */
export function filePositionOf(value: unknown): FilePosition | undefined {
  if (value instanceof FilePosition) return value;
  const { file, offset, end } = Object(value) as Readonly<Record<string, unknown>>;
  if (typeof file !== 'string' || typeof offset !== 'number' || typeof end !== 'number') {
    return undefined;
  }
  return new FilePosition(file, offset, end, -1);
}
