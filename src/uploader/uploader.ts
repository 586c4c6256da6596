/**
 * The port to the place where archives of topologies wait for the containers that fetch them. Every
 * method rejects with an EngineError FILE_FAILED, or INVALID_ARGUMENT for a name or location that
 * is not one.
 *
 * U1. An archive is there whole or not at all.
 * U2. Every call may be repeated.
 */
export interface Uploader {
  /**
   * Stores a copy of an archive.
   *
   * @param name Unique among the uploads of the folder, such as a topology's id; an older upload of
   *   the same name is replaced.
   * @returns Where it is, for `fetch` and `remove`, by whatever process.
   */
  upload(name: string, archivePath: string): Promise<string>;
  /** Copies an archive to a file of this machine. */
  fetch(location: string, toPath: string): Promise<void>;
  /** Removes an archive; an absent one counts as success. */
  remove(location: string): Promise<void>;
  /** Removes all archives that were ever uploaded here, also those that nobody has a record of. */
  clear(): Promise<void>;
}
