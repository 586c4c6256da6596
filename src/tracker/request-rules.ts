/*
  Which requests a Tracker answers at all, whatever they ask for (R18).

  Q1. Only such as name this Tracker in their Host header: loopback names, numeric addresses and the
      names that it was told. A page of another site that points a domain name at this machine (DNS
      rebinding) names that domain.
  Q2. None of another site's page, but for a person who follows a link: what is answered then is
      shown to the person, and not to that page.
  Q3. Answers say that no other site may read, embed or guess at them. There is no CORS.
*/

export interface RequestHeaders {
  get(name: string): string | null;
}

/** Why a request is refused, or undefined. */
export function refusalOfRequest(
  method: string,
  headers: RequestHeaders,
  hostNames: readonly string[],
): string | undefined {
  const host = headers.get('host') ?? '';
  const name = hostNameOf(host);
  const isOurs =
    name !== undefined && (name === 'localhost' || isNumeric(name) || hostNames.includes(name));
  if (!isOurs) {
    return 'the Host header names another host; heron tracker --host-name adds a name';
  }
  const site = headers.get('sec-fetch-site') ?? 'none';
  const isSameSite = site === 'none' || site === 'same-origin';
  const isFollowedLink =
    method === 'GET' &&
    headers.get('sec-fetch-mode') === 'navigate' &&
    headers.get('sec-fetch-dest') === 'document';
  const origin = headers.get('origin');
  const isSameOrigin = origin === null || hostOf(origin) === host.toLowerCase();
  if ((isSameSite && isSameOrigin) || (isFollowedLink && origin === null)) return undefined;
  return 'cross-site requests are refused';
}

/** Of every answer. */
export const SAFETY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** `[::1]:80` → `[::1]`, `LocalHost:80` → `localhost`. */
function hostNameOf(host: string): string | undefined {
  return /^(\[[^\]]+\]|[^:[\]]+)(?::\d+)?$/.exec(host)?.[1]?.toLowerCase();
}

/** No domain name looks like this, so nobody can point one of his at us. */
function isNumeric(name: string): boolean {
  return name.startsWith('[') || /^[\d.]+$/.test(name);
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
