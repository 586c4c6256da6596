import { userError } from '../base/errors.ts';
import { CLUSTER_NAME } from '../config/cluster-settings.ts';
import { quotable } from '../model/quotable.ts';

/*
  `cluster/role/env`, Heron's way to say where a topology belongs: which machines run it, who
  answers for it, and what for. Role and environment may be left out.
*/

export interface Place {
  readonly cluster: string;
  readonly role: string;
  readonly environ: string;
}

/** What was written; commands that look for something take what is left out for "any". */
export interface WrittenPlace {
  readonly cluster: string;
  readonly role?: string;
  readonly environ?: string;
}

const ENVIRON_DEFAULT = 'default';

/** Names of folders: these letters are safe in them, and user names have them. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,99}$/;

/** @throws EngineError INVALID_ARGUMENT */
export function parsePlace(text: string): WrittenPlace {
  // Empty parts are left out: `$USER` is not set everywhere.
  const [cluster = '', role, environ, ...rest] = text.split('/').map((part) => part || undefined);
  if (rest.length > 0 || cluster === '') throw wrongPlace(text, 'is not of this form');
  if (!CLUSTER_NAME.test(cluster)) {
    throw wrongPlace(text, `has the cluster '${quotable(cluster)}', which cannot be a name`);
  }
  for (const name of [role, environ]) {
    if (name === undefined || NAME.test(name)) continue;
    throw wrongPlace(text, `has the part '${quotable(name)}', which cannot be a name`);
  }
  return {
    cluster,
    ...(role !== undefined && { role }),
    ...(environ !== undefined && { environ }),
  };
}

/** Fills in Heron's defaults. */
export function completePlace(place: WrittenPlace, currentUser: string): Place {
  const { cluster, role = currentUser, environ = ENVIRON_DEFAULT } = place;
  return { cluster, role, environ };
}

export function placeText({ cluster, role, environ }: Place): string {
  return `${cluster}/${role}/${environ}`;
}

function wrongPlace(text: string, why: string) {
  const form = "a place is written cluster/role/env, for example 'local/me/dev'";
  return userError('INVALID_ARGUMENT', `${form}; '${quotable(text)}' ${why}`);
}

/** Names are unique in a cluster, so a place that does not fit is a slip, not another topology. */
export function isAt(place: Place, written: WrittenPlace): boolean {
  return (
    (written.role === undefined || written.role === place.role) &&
    (written.environ === undefined || written.environ === place.environ)
  );
}
