/** Of a token, whoever knows so much knows something. */
const PIECE = 16;

const MAX_LINE = 3_000;

/** What a terminal obeys, or shows as something else, but for the ends of lines. */
const STEERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Words that steer a terminal, begin a line of their own in the middle, and turn the direction of text. */
export const STEERING =
  '\u001b[2J\u001b]0;owned\u0007\u009b1A\u202e\u2028\nfaked line\r\n{"level":"error","msg":"faked"}\n';

/** The answer of a server that quotes a client's credentials, for 200 kB. */
export const quotingRefusal = (authorization: string): string =>
  `${STEERING}you sent Authorization: ${authorization} ${'x'.repeat(200_000)}`;

const CLAIMS = 'eyJpc3MiOiJrdWJlcm5ldGVzIiwic3ViIjoic3lzdGVtOnNlcnZpY2VhY2NvdW50In0';

/** A token as API servers give them out. */
export const TOKEN = `eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.${CLAIMS.repeat(4)}.c2lnbmF0dXJlLW9mLXRoYXQ`;

/** What of a program's output does harm to who reads it: one line for each kind, and none if there is nothing. */
export function harmIn(output: string, token = TOKEN): readonly string[] {
  const lines = output.split('\n');
  const pieces = Array.from({ length: token.length - PIECE + 1 }, (_, i) => token.slice(i, i + PIECE));
  return [
    ...lines
      .filter((line) => STEERS.test(line))
      .slice(0, 1)
      .map((line) => `steers a terminal: ${JSON.stringify(line.slice(0, 200))}`),
    ...lines
      .filter((line) => /^(faked|\{"level":"error","msg":"faked")/.test(line))
      .slice(0, 1)
      .map((line) => `a faked line: ${line.slice(0, 200)}`),
    ...lines
      .filter((line) => line.length > MAX_LINE)
      .slice(0, 1)
      .map((line) => `a line of ${line.length} characters`),
    ...pieces
      .filter((piece) => output.includes(piece))
      .slice(0, 1)
      .map((piece) => `a piece of the token: ${piece}`),
  ];
}
