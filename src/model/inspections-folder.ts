/**
 * Where a container keeps what was found out about its processes: profiles, and heap snapshots,
 * which hold all that a process has in its memory, secrets too.
 */
export const INSPECTIONS_FOLDER = 'inspections';
