import type { Stats } from 'node:fs';

const KINDS = 'rwxrwxrwx';

/** One entry of a folder as Heron's shell has it, with the figures as numbers besides. */
export function listedStat(name: string, stats: Stats, path: string): object {
  return {
    formatted_stat: `${prefix(stats)} ${name}`,
    is_dir: stats.isDirectory(),
    path: path.split('/').map(encodeURIComponent).join('/'),
    bytes: stats.size,
    modified_at_ms: Math.round(stats.mtimeMs),
    inode: stats.ino,
  };
}

/** As `ls -ln` writes it: mode, links, owner, group, size, time. */
function prefix(stats: Stats): string {
  const { mode, nlink, uid, gid, size, mtime } = stats;
  const time = mtime.toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ');
  return `${kindOf(stats)}${permissions(mode)} ${nlink} ${uid} ${gid} ${size} ${time}`;
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'd';
  return stats.isSymbolicLink() ? 'l' : '-';
}

function permissions(mode: number): string {
  return KINDS.split('')
    .map((letter, index) => ((mode & (1 << (KINDS.length - 1 - index))) === 0 ? '-' : letter))
    .join('');
}
