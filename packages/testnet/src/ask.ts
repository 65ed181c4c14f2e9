import type { Place } from './namespace.ts';

/** Asks the port `$0` for the path `$1`: a Node.js for each answer would starve what it asks. */
const ASK = 'exec 3<>/dev/tcp/127.0.0.1/$0 && printf "GET $1 HTTP/1.0\\r\\n\\r\\n" >&3 && cat <&3';

/**
 * Asks an HTTP server of a place, which `fetch` doesn't reach.
 *
 * @returns status 0 if it said nothing
 * @throws {Error} if nobody listens there
 */
export async function ask(
  place: Place,
  port: number,
  path: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const answer = await place.run('bash', ['-c', ASK, String(port), path]);
  return { status: Number(answer.split(' ', 2)[1] ?? 0), body: answer.slice(answer.indexOf('\r\n\r\n') + 4) };
}
