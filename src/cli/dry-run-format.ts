/** Apart from the code that makes them: every command line names them. */
export const DRY_RUN_FORMATS = ['table', 'colored-table', 'json', 'raw'] as const;

export type DryRunFormat = (typeof DRY_RUN_FORMATS)[number];
