import { assert } from '../../base/assert.ts';

/** `/`, or names with a `/` before each. */
const NODE_PATH = /^\/(?:[^/\0]+(?:\/[^/\0]+)*)?$/;

/** The folder of the servers' tree that a client takes for its root. */
export class Chroot {
  /** `/heron`, or nothing for the servers' own root. */
  readonly #prefix: string;

  constructor(folder = '/') {
    assert(NODE_PATH.test(folder), `${folder} is no path of a ZooKeeper node`);
    this.#prefix = folder === '/' ? '' : folder;
  }

  /** The path in the servers' tree of one below the chroot. */
  whole(path: string): string {
    assert(NODE_PATH.test(path), `${path} is no path of a ZooKeeper node`);
    if (path !== '/') return `${this.#prefix}${path}`;
    return this.#prefix === '' ? '/' : this.#prefix;
  }

  /** The other direction. */
  below(wholePath: string): string {
    assert(wholePath.startsWith(this.#prefix), 'a server speaks of what was asked for');
    const path = wholePath.slice(this.#prefix.length);
    return path === '' ? '/' : path;
  }

  /** The folders that must be there, in the servers' tree, the highest first. */
  get folders(): readonly string[] {
    const names = this.#prefix.split('/').slice(1);
    return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
  }
}
