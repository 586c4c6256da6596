/** Where a request to a master's control port carries the topology's token. */
export const TOKEN_HEADER = 'x-heron-token';
