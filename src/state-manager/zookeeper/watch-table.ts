/*
  Who waits for what to happen to which node, on our side of a session.

  A server arms one watch for each connection, node and kind, however many ask, and it is gone with
  what it tells. There are two kinds at a server: of the node itself (`exists` and `getData`), and
  of its children.

  W1. A watcher is called once at most, by an event or by `lost`.
  W2. After a reconnect everything here is armed again with the number of the last transaction that
      we know of. The server tells at once of what has happened since, so that nothing is lost.
  W3. For that it must be told what was found: of a node that was there (`data`) its change is news,
      of one that was not (`absent`) its being there.
*/

import { malformed } from '../../wire/malformed.ts';
import type { Chroot } from './chroot.ts';
import type { JuteReader } from './jute-reader.ts';
import type { WatchEvent, Watcher } from './node-records.ts';

/** `exists` becomes `data` or `absent` by what was found (W3). */
export type WatchKind = 'data' | 'absent' | 'children';

/** What to arm with one request. */
export type WatchedPaths = Readonly<Record<WatchKind, readonly string[]>>;

interface EventType {
  readonly kind: WatchEvent['kind'];
  /** Whose watches the server has forgotten with it. */
  readonly ends: readonly WatchKind[];
}

/** ZooKeeper's `Watcher.Event.EventType`. */
const EVENT_TYPES: ReadonlyMap<number, EventType> = new Map([
  [1, { kind: 'created', ends: ['data', 'absent'] }],
  [2, { kind: 'deleted', ends: ['data', 'absent', 'children'] }],
  [3, { kind: 'changed', ends: ['data', 'absent'] }],
  [4, { kind: 'children', ends: ['children'] }],
]);

const KINDS: readonly WatchKind[] = ['data', 'absent', 'children'];

/** A server takes 1 MiB, less where `jute.maxbuffer` is small; a tenth passes everywhere. */
const ARMED_BYTES_MAX = 100 * 1024;
/** The length in front of a path. */
const LENGTH_BYTES = 4;

export class WatchTable {
  readonly #chroot: Chroot;
  /** By whole path. */
  readonly #watchers: Readonly<Record<WatchKind, Map<string, Set<Watcher>>>> = {
    data: new Map(),
    absent: new Map(),
    children: new Map(),
  };

  constructor(chroot: Chroot) {
    this.#chroot = chroot;
  }

  add(kind: WatchKind, path: string, watcher: Watcher): void {
    const watchers = this.#watchers[kind];
    const ofPath = watchers.get(path);
    if (ofPath === undefined) watchers.set(path, new Set([watcher]));
    else ofPath.add(watcher);
  }

  // type int  state int  path string
  /** Tells whom an event of the server concerns. */
  tell(reader: JuteReader): void {
    const number = reader.int();
    reader.int(); // Of the session; the connection itself says more.
    const path = reader.string();
    const type = EVENT_TYPES.get(number);
    if (type === undefined) throw malformed(`an event of type ${number}`);
    const told = new Set<Watcher>();
    for (const kind of type.ends) {
      for (const watcher of this.#take(kind, path)) told.add(watcher);
    }
    for (const watcher of told) watcher({ kind: type.kind, path: this.#chroot.below(path) });
  }

  /** The session is over. */
  tellLost(): void {
    const lost = KINDS.flatMap((kind) =>
      [...this.#watchers[kind].keys()].flatMap((path) =>
        [...this.#take(kind, path)].map((watcher) => ({ path, watcher })),
      ),
    );
    for (const { path, watcher } of lost) watcher({ kind: 'lost', path: this.#chroot.below(path) });
  }

  clear(): void {
    for (const kind of KINDS) this.#watchers[kind].clear();
  }

  /** All that is watched, in parts that a server takes as one request each (W2). */
  parts(): readonly WatchedPaths[] {
    const parts: Record<WatchKind, string[]>[] = [];
    let bytes = Number.POSITIVE_INFINITY;
    for (const kind of KINDS) {
      for (const path of this.#watchers[kind].keys()) {
        const pathBytes = LENGTH_BYTES + Buffer.byteLength(path);
        if (bytes + pathBytes > ARMED_BYTES_MAX) {
          parts.push({ data: [], absent: [], children: [] });
          bytes = 0;
        }
        bytes += pathBytes;
        parts.at(-1)?.[kind].push(path);
      }
    }
    return parts;
  }

  #take(kind: WatchKind, path: string): ReadonlySet<Watcher> {
    const watchers = this.#watchers[kind];
    const ofPath = watchers.get(path);
    watchers.delete(path);
    return ofPath ?? new Set();
  }
}
